"""Functions that answer a checked request.

A brain is a function of the request, plain or asynchronous, that returns a `Reply`, a `Fault` to fail this
request, or a `Wire` to send bytes of its own.
"""

from __future__ import annotations

import re
import threading
import uuid
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from utils.testing.strict.conversation import Api, Call, ChatMessage, ChatRequest, Reply, Wire
from utils.testing.strict.faults import Fault

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import BaseMessage

Answer = Reply | Fault | Wire
Brain = Callable[[ChatRequest], Answer | Awaitable[Answer]]

_LEGAL_ID = {
    Api.OPENAI: re.compile(r".{1,40}"),
    Api.BEDROCK: re.compile(r"[a-zA-Z0-9_.:-]{1,64}"),
    Api.ANTHROPIC: re.compile(r"[a-zA-Z0-9_-]{1,64}"),
    Api.RESPONSES: re.compile(r".{1,64}"),
    Api.GEMINI: re.compile(r".*"),  # its calls need no ids
}
_ID_PREFIX = {
    Api.OPENAI: "call_",
    Api.RESPONSES: "call_",
    Api.BEDROCK: "tooluse_",
    Api.ANTHROPIC: "toolu_",
    Api.GEMINI: "call_",
}


class ScriptExhaustedError(AssertionError):
    """More requests came than the script has answers."""


class ScriptedBrain:
    """Gives its answers in order, one a request; a plain string is a text."""

    def __init__(self, answers: Sequence[str | Answer]) -> None:
        self._answers = list(answers)
        self._lock = threading.Lock()
        self._used = 0

    def __call__(self, _request: ChatRequest) -> Answer:
        with self._lock:
            position = self._used
            self._used += 1
        if position >= len(self._answers):
            raise ScriptExhaustedError(
                f"Request {position + 1} came, but the script has {len(self._answers)} answers."
            )
        answer = self._answers[position]
        return Reply(answer) if isinstance(answer, str) else answer


class EchoBrain:
    """Answers with what the user said last."""

    def __call__(self, request: ChatRequest) -> Answer:
        return Reply(request.last_user_text)


class RoutingBrain:
    """Answers by a LangChain chat model with the request's tools bound to it."""

    def __init__(self, model: BaseChatModel) -> None:
        self._model = model

    async def __call__(self, request: ChatRequest) -> Answer:
        tools = [_schema(tool.name, tool.description, tool.parameters) for tool in request.tools]
        runnable = self._model.bind_tools(tools) if tools else self._model
        answer = await runnable.ainvoke([_message(said) for said in request.messages])
        calls = [
            Call(call["id"] or "", call["name"], call["args"]) for call in getattr(answer, "tool_calls", ())
        ]
        return Reply(str(answer.text), calls)


def with_legal_ids(reply: Reply, api: Api) -> Reply:
    """The reply with an id of the API's own kind for each call whose id would be refused later."""
    seen: set[str] = set()
    calls = []
    for call in reply.calls:
        legal = _LEGAL_ID[api].fullmatch(call.id) and call.id not in seen
        calls.append(call if legal else replace(call, id=_ID_PREFIX[api] + uuid.uuid4().hex[:24]))
        seen.add(calls[-1].id)
    return replace(reply, calls=calls)


def _schema(name: str, description: str, parameters: Any) -> dict[str, Any]:
    function = {"name": name, "description": description, "parameters": dict(parameters)}
    return {"type": "function", "function": function}


def _message(said: ChatMessage) -> BaseMessage:
    from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
    from langchain_core.messages.tool import tool_call

    if said.role == "system":
        return SystemMessage(said.text)
    if said.role == "user":
        return HumanMessage(said.text)
    if said.role == "tool":
        return ToolMessage(
            said.text, tool_call_id=said.call_id or "", status="error" if said.failed else "success"
        )
    calls = [tool_call(name=call.name, args=dict(call.arguments), id=call.id) for call in said.calls]
    return AIMessage(said.text, tool_calls=calls)
