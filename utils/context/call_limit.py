"""Ends a turn after a number of model calls, with an answer made of the latest tool results.

The calls of a turn are the model's messages since the user's last one. This count survives an
interrupt and a restart, and needs no `before_model` hook, which would cost a LangGraph superstep.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

from utils.context.rendering import full_text
from utils.messages.results import ToolProblem, parse_result
from utils.messages.transcript import active_index

STOPPED = "call_limit"
"""Key in `response_metadata` of an answer that this middleware wrote."""

_SHOWN_RESULTS = 3
_LONGEST_RESULT = 1_200
_SUPERSTEPS_PER_CALL = 4
_SUPERSTEPS_BESIDES = 10


class ModelCallLimit(AgentMiddleware[Any, Any]):
    """At most `limit` model calls in one turn."""

    def __init__(self, limit: int) -> None:
        super().__init__()
        self._limit = limit

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any] | AIMessage:
        """Call the model, or end the turn if the limit is reached."""
        if calls_this_turn(request.messages) < self._limit:
            return await handler(request)
        return AIMessage(
            answer_so_far(request.messages, self._limit), response_metadata={STOPPED: self._limit}
        )


def recursion_limit(calls: int) -> int:
    """A LangGraph recursion limit that `calls` model calls do not reach.

    A call takes one superstep, its tools one, and each `before_model` and `after_model` hook one.
    """
    return _SUPERSTEPS_PER_CALL * calls + _SUPERSTEPS_BESIDES


def calls_this_turn(messages: Sequence[BaseMessage]) -> int:
    """Model calls since the user's last message."""
    start = active_index(messages)
    tail = messages if start is None else messages[start + 1 :]
    return sum(isinstance(message, AIMessage) for message in tail)


def answer_so_far(messages: Sequence[BaseMessage], limit: int) -> str:
    """The answer when the limit is reached: the reason, and the latest results."""
    return found_so_far(messages, f"I stopped after {limit} steps without coming to an end.")


def found_so_far(messages: Sequence[BaseMessage], why: str) -> str:
    """An answer without a model: the reason, and the latest results."""
    start = active_index(messages) or 0
    results = [m for m in messages[start:] if isinstance(m, ToolMessage) and _is_useful(m)][-_SHOWN_RESULTS:]
    if not results:
        return f"{why} No tool gave a usable result. Please narrow the question down."
    shown = "\n\n".join(f"{message.name or 'Tool'}: {_short(full_text(message))}" for message in results)
    return f"{why} This is what I found last:\n\n{shown}"


def _is_useful(message: ToolMessage) -> bool:
    text = full_text(message)
    return (
        message.status != "error" and bool(text.strip()) and not isinstance(parse_result(text), ToolProblem)
    )


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST_RESULT else f"{text[:_LONGEST_RESULT].rstrip()}…"
