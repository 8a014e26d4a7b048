"""Holds a model's tool calls to a JSON schema, for models that do not call tools by themselves.

Such a model writes its calls as text in some form, or answers from memory where it should call. Here each step begins with a
request whose answer the server holds to a schema (`response_format`, structured output): a tool of those that are offered
with its arguments, or `answer`. Only after `answer` the model is asked for words. Both requests offer the same tools and begin with
the same messages, so that the second one finds the first one's prefix in the server's cache.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import takewhile, zip_longest
from typing import Any

import structlog
from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolCall
from langchain_core.runnables.config import ensure_config, var_child_runnable_config
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.constants import TAG_NOSTREAM

from utils.a2a_common.graph.stream_translator import usage_of
from utils.context.tools import TOOL_NAMES
from utils.events import Usage, UsageReported
from utils.messages.text import message_text
from utils.messages.tool_examples import spread

log = structlog.get_logger(__name__)

ANSWER = "answer"
"""What a model chooses in place of a tool when it has all that its answer needs."""

DECISIONS = "decisions"
"""Name under which the usage of these requests is reported."""

MOST_EXAMPLES = 14
"""Example requests in an instruction, of all tools together: small models choose by likeness rather than by a description."""

MOST_CALLS = 4
"""Calls of one tool that a turn may decide on."""

_FORM = '{"name": "TOOL", "arguments": {…}}'
_ANSWER_FORM = f'{{"name": "{ANSWER}", "arguments": {{}}}}'
_FIRST = (
    f"Decide on the next step, as JSON. To call a tool: {_FORM}, with arguments in the words of the request. "
    f"Only when no tool can help, as with a greeting: {_ANSWER_FORM}."
)
_EXAMPLES_HEAD = "The step for other requests, whose names and numbers you do not use:"

AFTER_RESULTS = (
    f"Decide on the next step, as JSON. When the results above answer the request: {_ANSWER_FORM}. Only when a part of the "
    f"request has no result yet: {_FORM}, for that part alone."
)
"""What is asked when there are results, since small models repeat a call that has been answered."""

Handler = Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]


class StructuredCalls(AgentMiddleware[Any, Any]):
    """Asks for a decision before each answer. A server that ignores the schema is answered as without it."""

    async def awrap_model_call(self, request: ModelRequest[Any], handler: Handler) -> ModelResponse[Any]:
        """Return the model's calls, or its answer."""
        if not request.tools:
            return await handler(request)
        made = calls_of_turn(request.messages)
        asked = request.override(
            messages=with_instruction(request.messages, request.tools),
            model_settings={**request.model_settings, "extra_body": _body(request, made)},
        )
        with _unseen():
            decided = await handler(asked)
        step = _decision(decided)
        # small models ask without end for what they were told already
        if step[0] != ANSWER and step not in [(call["name"], call["args"]) for call in made]:
            return decided
        _report(request, decided)
        log.debug("model.answers")
        return await handler(request.override(tool_choice="none"))


def with_instruction(messages: Sequence[BaseMessage], tools: Sequence[Any]) -> list[Any]:
    """The messages with what shall be decided at their end. Pure.

    Where the user spoke last it stands in that message, since some templates want roles in turn, and before the user's
    own words, since a small model follows what it read last.
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
    """What is asked before anything was looked up: the form of a decision, with example requests of the tools. Pure."""
    having = {tool.name: tool for tool in tools if isinstance(tool, BaseTool) and _examples(tool)}
    most = max(1, MOST_EXAMPLES // max(1, len(having)))
    chosen = [[(each, tool) for each in spread(_examples(tool), most)] for tool in having.values()]
    in_turn = [each for row in zip_longest(*chosen) for each in row if each is not None]
    if not in_turn:
        return f"{_FIRST}\n\nThe request:\n"
    lines = "\n".join(f'"{example}" -> {_shown(example, tool)}' for example, tool in in_turn)
    return f'{_FIRST}\n{_EXAMPLES_HEAD}\n"Hello!" -> {_ANSWER_FORM}\n{lines}\n\nThe request:\n'


def _examples(tool: BaseTool) -> Sequence[str]:
    """Not those of the tools that read what was cut out: nothing was, at the first step of most requests."""
    return () if tool.name in TOOL_NAMES else (tool.metadata or {}).get("examples", ())


def _shown(example: str, tool: BaseTool) -> str:
    """The whole call where its one argument is the request itself, so that a model copies it; else the tool's name."""
    parameters = convert_to_openai_tool(tool)["function"].get("parameters") or {}
    match parameters.get("required") or []:
        case [one] if parameters["properties"][one].get("type") == "string":
            return json.dumps({"name": tool.name, "arguments": {one: example}}, ensure_ascii=False)
    return tool.name


def schema_of(tools: Sequence[Any]) -> dict[str, Any]:
    """A `response_format` that holds an answer to one call of these tools, or `ANSWER`. Pure."""
    offered = [convert_to_openai_tool(tool)["function"] for tool in tools]
    calls = [_call(tool["name"], tool.get("parameters") or {}) for tool in offered]
    nothing = {"type": "object", "properties": {}, "additionalProperties": False}
    schema = {"anyOf": [*calls, _call(ANSWER, nothing)]}
    return {"type": "json_schema", "json_schema": {"name": "step", "schema": schema}}


def calls_of_turn(messages: Sequence[BaseMessage]) -> list[ToolCall]:
    """The calls that the model has made since the user spoke last. Pure."""
    since = takewhile(lambda message: not isinstance(message, HumanMessage), reversed(messages))
    return [call for message in since if isinstance(message, AIMessage) for call in message.tool_calls]


def _body(request: ModelRequest[Any], made: Sequence[ToolCall]) -> dict[str, Any]:
    """Fields of the request's body. LangChain's own argument for the schema takes no choice between forms."""
    own = getattr(request.model, "extra_body", None) or {}
    times = Counter(call["name"] for call in made)
    offered = [
        tool for tool in request.tools if times[convert_to_openai_tool(tool)["function"]["name"]] < MOST_CALLS
    ]
    return {**own, "response_format": schema_of(offered)}


def _call(name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {"name": {"const": name}, "arguments": dict(arguments)},
        "required": ["name", "arguments"],
        "additionalProperties": False,
    }


def _decision(response: ModelResponse[Any]) -> tuple[str, Any]:
    """The tool that was decided on, and its arguments; no name where the server did not hold the answer to the schema."""
    message = response.result[-1]
    if not isinstance(message, AIMessage) or message.tool_calls:
        return "", None
    try:
        decision = json.loads(message_text(message))
    except ValueError:
        return "", None
    if not isinstance(decision, dict):
        return "", None
    return str(decision.get("name", "")), decision.get("arguments")


def _report(request: ModelRequest[Any], decided: ModelResponse[Any]) -> None:
    """The usage of a decision that is no part of the conversation."""
    message = decided.result[-1]
    if not isinstance(message, AIMessage) or message.usage_metadata is None:
        return
    used: Usage = usage_of(message)
    request.runtime.stream_writer(UsageReported({DECISIONS: used}))
    if meter := getattr(request.runtime.context, "meter", None):
        meter.add(used)


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
