"""Loop guard: refuses a tool call that keeps giving the same result.

A call that gave the same result three times in a turn is not run a fourth time. Instead, the model gets a result
that tells it to use what it has or to ask for something else. The count is derived from the conversation, so it
survives an interrupt and a restart. After the second refusal the turn ends with an answer made of the results.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import structlog
from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.types import Command

from utils.errors import CallsRepeated
from utils.messages.marks import STOPPED_CALL
from utils.messages.transcript import active_index

log = structlog.get_logger(__name__)

MOST_EQUAL = 3
"""How often a call may give the same result."""

MOST_REFUSALS = 2
"""Replies with nothing but refused calls after which the model is not asked again."""

ENDLESS = "The model made the same call again and again, so it was stopped."


class LoopGuard(AgentMiddleware[Any, Any]):
    """Middleware that answers instead of a tool whose result was the same too often."""

    async def awrap_tool_call(
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]],
    ) -> ToolMessage | Command[Any]:
        """Run the call, or return why it was not run."""
        call = request.tool_call
        messages: Sequence[BaseMessage] = request.state["messages"]
        if equal_results(messages, call["name"], call["args"]) < MOST_EQUAL:
            return await handler(request)
        log.warning("tool.loop_stopped", tool=call["name"], times=MOST_EQUAL)
        return ToolMessage(
            _stopped(call["name"]),
            tool_call_id=str(call["id"]),
            name=call["name"],
            additional_kwargs=STOPPED_CALL.entry(True),
        )


class LoopEnd(AgentMiddleware[Any, Any]):
    """Middleware that ends the turn of a model that goes on after its calls were refused."""

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        """Call the model.

        Raises:
            CallsRepeated: All calls of two of its replies in this turn were refused.
        """
        if refusals(request.messages) < MOST_REFUSALS:
            return await handler(request)
        log.warning("model.loop_stopped", refusals=MOST_REFUSALS)
        raise CallsRepeated(ENDLESS)


def refusals(messages: Sequence[BaseMessage]) -> int:
    """Replies of the current turn of which every call was refused. Pure."""
    start = active_index(messages)
    turn = messages if start is None else messages[start + 1 :]
    results = {message.tool_call_id: message for message in turn if isinstance(message, ToolMessage)}
    replies = [
        [results[str(call["id"])] for call in message.tool_calls if str(call["id"]) in results]
        for message in turn
        if isinstance(message, AIMessage)
    ]
    return sum(bool(reply) and not any(map(_ran, reply)) for reply in replies)


def equal_results(messages: Sequence[BaseMessage], tool: str, arguments: Mapping[str, Any]) -> int:
    """How many times in a row this call gave its latest result in the current turn. Pure."""
    start = active_index(messages)
    turn = messages if start is None else messages[start + 1 :]
    same = {
        str(call["id"])
        for message in turn
        if isinstance(message, AIMessage)
        for call in message.tool_calls
        if call["name"] == tool and call["args"] == arguments
    }
    results = [m.text for m in turn if isinstance(m, ToolMessage) and m.tool_call_id in same and _ran(m)]
    count = 0
    for text in reversed(results):
        if text != results[-1]:
            break
        count += 1
    return count


def _ran(message: ToolMessage) -> bool:
    return not STOPPED_CALL.of(message)


def _stopped(tool: str) -> str:
    return (
        f"{tool} was not called: it gave the same result {MOST_EQUAL} times for these arguments, and will give it "
        "again. Answer with what you have, or use other arguments or another tool."
    )
