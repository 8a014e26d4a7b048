"""Holds a model's tool calls to a JSON schema, for models that do not call tools by themselves.

Such a model writes its calls as text in some form, or answers from memory where it should call. Here each step begins with a
request whose answer the server holds to a schema (`response_format`, structured output): a list of calls of the tools that are
offered, or `answer`. Only after `answer` is the model asked for its text. Both requests offer the same tools and begin with
the same messages, so that the second one finds the first one's prefix in the server's cache. An answer that has to fill a form
is held to the form's schema in the same way: such a model would not call the form as a tool either.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import takewhile, zip_longest
from typing import Any

import structlog
from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
from langchain.agents.structured_output import ProviderStrategy
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolCall
from langchain_core.messages.tool import tool_call
from langchain_core.runnables.config import ensure_config, var_child_runnable_config
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.constants import TAG_NOSTREAM

from utils.a2a_common.graph.run.turn_usage import usage_of
from utils.a2a_common.graph.tools.boundary import DELEGATION
from utils.a2a_common.protocol.request import AgentRequest
from utils.context.task_meter import report_usage
from utils.context.tools import TOOL_NAMES
from utils.events import Usage
from utils.llm.reply.native_calls import new_id
from utils.messages.text import message_text
from utils.messages.tool_examples import spread

log = structlog.get_logger(__name__)

ANSWER = "answer"
"""The model's choice in place of a tool when it has all that its answer needs."""

DECISIONS = "decisions"
"""Name under which the usage of these requests is reported."""

MOST_EXAMPLES = 14
"""Example requests in an instruction, of all tools together: small models choose by likeness rather than by a description."""

MOST_CALLS = 4
"""Calls of one tool that a turn may decide on."""

MOST_AT_ONCE = 3
"""Calls in one decision. Without a bound a small model continues the list."""

_ANSWER_FORM = f'[{{"name": "{ANSWER}", "arguments": {{}}}}]'
_FORM = '[{"name": "TOOL", "arguments": {…}}]'
_FIRST = (
    "Decide on the next step, as JSON: a list of calls, one for each part of the request that a tool can do: "
    f"{_FORM}, with arguments in the words of the request. Only when no tool can help, as with a greeting: {_ANSWER_FORM}."
)
_EXAMPLES_HEAD = "The step for other requests, whose names and numbers you do not use:"
_GREETINGS = ("Hello!", "Thank you", "Good evening")

AFTER_RESULTS = (
    f"Decide on the next step, as JSON. When the results above answer the request: {_ANSWER_FORM}. Only when a part of the "
    f"request has no result yet: {_FORM}, for that part alone."
)
"""The instruction once there are results, since small models repeat a call that has been answered."""

IN_WORDS = "Answer the request in words now, with what the results above say. Name no tool and write no JSON."
"""The instruction for the answer if there are results: without it small models name a tool to call."""

IN_THE_FORM = "Answer the request as JSON now, with what the results above say. Name no tool."
"""The same where the answer has to fill a form."""

Handler = Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]


class StructuredCalls(AgentMiddleware[Any, Any]):
    """Asks for a decision before each answer. With a server that ignores the schema, the answer is used as without it."""

    async def awrap_model_call(self, request: ModelRequest[Any], handler: Handler) -> ModelResponse[Any]:
        """Return the model's calls, or its answer."""
        if not request.tools:
            return await handler(_answering(request))
        made = calls_of_turn(request.messages)
        asked = request.override(
            response_format=None,
            messages=with_instruction(request.messages, request.tools),
            model_settings=_settings(request, _step(request, made)),
        )
        with _unseen():
            decided = await handler(asked)
        steps = _decision(decided)
        if steps is None:
            return decided
        calls = _new_calls(steps, made, _names(request.tools))
        if calls:
            return _calling(decided, _with_user_text(calls, request))
        if used := _used(decided):
            report_usage(request, used)
        log.debug("model.answers")
        how = IN_WORDS if request.response_format is None else IN_THE_FORM
        messages = [*request.messages, HumanMessage(how)] if made else request.messages
        return await handler(_answering(request.override(messages=messages, tool_choice="none")))


def _answering(request: ModelRequest[Any]) -> ModelRequest[Any]:
    """The request of an answer; one that has to fill a form is held to its schema, and read from its text like any other."""
    if request.response_format is None:
        return request
    form: Any = getattr(request.response_format, "schema", request.response_format)
    schema = ProviderStrategy(form).to_model_kwargs()["response_format"]
    return request.override(response_format=None, model_settings=_settings(request, schema))


def _settings(request: ModelRequest[Any], response_format: Mapping[str, Any]) -> dict[str, Any]:
    """The model's settings with fields of the request's body. LangChain's own argument for a schema takes no choice between forms."""
    own = getattr(request.model, "extra_body", None) or {}
    return {**request.model_settings, "extra_body": {**own, "response_format": response_format}}


def with_instruction(messages: Sequence[BaseMessage], tools: Sequence[Any]) -> list[Any]:
    """The messages with what shall be decided at their end. Pure.

    Where the user spoke last it stands in that message, since some templates require alternating roles, and before the
    user's text, since a small model follows what it read last.
    """
    *before, last = messages
    if not isinstance(last, HumanMessage):
        return [*messages, HumanMessage(AFTER_RESULTS)]
    content = last.content
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else list(content)
    return [
        *before,
        last.model_copy(update={"content": [{"type": "text", "text": first_step(tools)}, *blocks]}),
    ]


def first_step(tools: Sequence[Any]) -> str:
    """The prompt before the first tool call: the form of a decision, with example requests of the tools. Pure."""
    having = {tool.name: tool for tool in tools if isinstance(tool, BaseTool) and _examples(tool)}
    most = max(1, MOST_EXAMPLES // max(1, len(having)))
    chosen = [[(each, tool) for each in spread(_examples(tool), most)] for tool in having.values()]
    in_turn = [each for row in zip_longest(*chosen) for each in row if each is not None]
    if not in_turn:
        return f"{_FIRST}\n\nThe request:\n"
    steps = [(greeting, _ANSWER_FORM) for greeting in _GREETINGS]
    steps += [(example, _shown([(example, tool)])) for example, tool in in_turn]
    if both := _of_two_tools(chosen):
        steps.insert(len(steps) // 2, both)
    lines = "\n".join(f'"{request}" -> {step}' for request, step in steps)
    return f"{_FIRST}\n{_EXAMPLES_HEAD}\n{lines}\n\nThe request:\n"


def _of_two_tools(chosen: Sequence[Sequence[tuple[str, BaseTool]]]) -> tuple[str, str] | None:
    """A request of two parts with its two calls, where two tools take the request itself."""
    last = [examples[-1] for examples in chosen if _request_argument(examples[-1][1])]
    if len(last) < 2:  # noqa: PLR2004  two parts
        return None
    (second, _), (first, _) = last[:2]
    return f"{first.rstrip('?. ')}, and {second[:1].lower()}{second[1:]}", _shown([last[1], last[0]])


def _examples(tool: BaseTool) -> Sequence[str]:
    """Without those of the tools that read what was cut out: at the first step of most requests nothing was."""
    return () if tool.name in TOOL_NAMES else (tool.metadata or {}).get("examples", ())


def _shown(examples: Sequence[tuple[str, BaseTool]]) -> str:
    """Complete calls where their one argument is the request itself, so that a model copies them; else the tool's name."""
    arguments = [_request_argument(tool) for _, tool in examples]
    if not all(arguments):
        return ", ".join(tool.name for _, tool in examples)
    calls = [
        {"name": tool.name, "arguments": {argument: example}}
        for (example, tool), argument in zip(examples, arguments, strict=True)
    ]
    return json.dumps(calls, ensure_ascii=False)


def _request_argument(tool: BaseTool) -> str:
    """The tool's one required argument where it is a text; empty otherwise."""
    parameters = convert_to_openai_tool(tool)["function"].get("parameters") or {}
    match parameters.get("required") or []:
        case [one] if parameters["properties"][one].get("type") == "string":
            return str(one)
    return ""


def schema_of(tools: Sequence[Any], *, may_answer: bool = True) -> dict[str, Any]:
    """A `response_format` that holds an answer to a few calls of these tools, or `ANSWER`. Pure."""
    offered = [convert_to_openai_tool(tool)["function"] for tool in tools]
    calls = [_call(tool["name"], tool.get("parameters") or {}) for tool in offered]
    nothing = {"type": "object", "properties": {}, "additionalProperties": False}
    if may_answer or not calls:
        calls.append(_call(ANSWER, nothing))
    schema = {"type": "array", "minItems": 1, "maxItems": MOST_AT_ONCE, "items": {"anyOf": calls}}
    return {"type": "json_schema", "json_schema": {"name": "step", "schema": schema}}


def calls_of_turn(messages: Sequence[BaseMessage]) -> list[ToolCall]:
    """The calls that the model has made since the user spoke last. Pure."""
    since = takewhile(lambda message: not isinstance(message, HumanMessage), reversed(messages))
    return [call for message in since if isinstance(message, AIMessage) for call in message.tool_calls]


def _step(request: ModelRequest[Any], made: Sequence[ToolCall]) -> dict[str, Any]:
    """The schema of a decision: the tools that were not called too often, or the answer."""
    times = Counter(call["name"] for call in made)
    offered = [
        tool
        for tool, name in zip(request.tools, _names(request.tools), strict=True)
        if times[name] < MOST_CALLS
    ]
    return schema_of(offered, may_answer=bool(made) or not _is_delegated(request))


def _names(tools: Sequence[Any]) -> list[str]:
    return [str(convert_to_openai_tool(tool)["function"]["name"]) for tool in tools]


def _is_delegated(request: ModelRequest[Any]) -> bool:
    """Whether an agent delegated the task: then something is to be looked up, and small talk is not expected."""
    context = request.runtime.context
    return isinstance(context, AgentRequest) and context.delegation is not None


def _call(name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {"name": {"const": name}, "arguments": dict(arguments)},
        "required": ["name", "arguments"],
        "additionalProperties": False,
    }


def _decision(response: ModelResponse[Any]) -> list[tuple[str, Any]] | None:
    """Names and arguments that were decided on; `None` where the server did not hold the answer to the schema."""
    message = response.result[-1]
    if not isinstance(message, AIMessage) or message.tool_calls:
        return None
    try:
        steps = json.loads(message_text(message))
    except ValueError:
        return None
    if not (isinstance(steps, list) and steps and all(isinstance(step, dict) for step in steps)):
        return None
    return [(str(step.get("name", "")), step.get("arguments")) for step in steps]


def _new_calls(
    steps: Sequence[tuple[str, Any]], made: Sequence[ToolCall], offered: Sequence[str]
) -> list[ToolCall]:
    """The calls of a decision, without those that have been answered: small models ask without end for what they know.

    A call of a tool that was not offered is dropped: providers refuse a conversation with one.
    """
    known = [(call["name"], call["args"]) for call in made]
    calls: list[ToolCall] = []
    for name, arguments in steps:
        if name in offered and isinstance(arguments, dict) and (name, arguments) not in known:
            known.append((name, arguments))
            calls.append(tool_call(name=name, args=arguments, id=new_id()))
    return calls


def _with_user_text(calls: Sequence[ToolCall], request: ModelRequest[Any]) -> Sequence[ToolCall]:
    """A single delegation gets the user's text as it is, if the conversation has just begun: small models change names and numbers."""
    conversation = request.state["messages"]
    delegations = {
        tool.name
        for tool in request.tools
        if isinstance(tool, BaseTool) and (tool.metadata or {}).get(DELEGATION)
    }
    match calls, conversation:
        case [{"name": name, "id": own}], [HumanMessage(content=str(text))] if name in delegations:
            return [tool_call(name=name, args={"request": text}, id=own)]
    return calls


def _calling(decided: ModelResponse[Any], calls: Sequence[ToolCall]) -> ModelResponse[Any]:
    """The response with the calls in place of the text that held them."""
    *before, message = decided.result
    calling = message.model_copy(update={"content": "", "tool_calls": list(calls)})
    return replace(decided, result=[*before, calling])


def _used(decided: ModelResponse[Any]) -> Mapping[str, Usage]:
    """The usage of a decision, which is not part of the conversation."""
    message = decided.result[-1]
    if not isinstance(message, AIMessage) or message.usage_metadata is None:
        return {}
    return {DECISIONS: usage_of(message)}


@contextmanager
def _unseen() -> Iterator[None]:
    """Model runs of this block are not part of the graph's stream of messages."""
    config = ensure_config()
    hidden = {**config, "tags": [*(config.get("tags") or []), TAG_NOSTREAM]}
    token = var_child_runnable_config.set(hidden)  # type: ignore[arg-type]
    try:
        yield
    finally:
        var_child_runnable_config.reset(token)
