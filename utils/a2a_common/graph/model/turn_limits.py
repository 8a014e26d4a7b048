"""Ends a turn that has used up its model calls or its budget with an answer from the results so far instead of an error.

The calls of a turn are the model's messages since the user's last one. This count survives an
interrupt and a restart, and needs no `before_model` hook, which would cost a LangGraph superstep.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import structlog
from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
from langchain_core.messages import AIMessage, BaseMessage, SystemMessage, ToolMessage

from utils.a2a_common.graph.run.turn_usage import usage_of
from utils.context.rendering import full_text
from utils.llm.prices import PRICES, Price, priced
from utils.messages.marks import COST
from utils.messages.results import failure_in
from utils.messages.transcript import active_index, calls_this_turn
from utils.resilience.budget import Budget, Meter, sentence

log = structlog.get_logger(__name__)

_SHOWN_RESULTS = 3
_LONGEST_RESULT = 1_200
_SUPERSTEPS_PER_CALL = 4
_SUPERSTEPS_BESIDES = 10
_LAST = (
    "\n\nThe budget of this task is nearly used up. Call no tool any more. Answer now from what you have, and "
    "say what is missing."
)


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
        return AIMessage(answer_so_far(request.messages, self._limit))


class BudgetGuard(AgentMiddleware[Any, Any]):
    """Counts each model call on the request's meter, and ends the turn when its budget is used up.

    Args:
        budget: What the agent's settings allow; a request's own budget applies where it is stricter.
        prices: Prices of models.
        model: Name of the agent's model, where its responses do not contain it.
    """

    def __init__(self, budget: Budget, prices: Mapping[str, Price] = PRICES, model: str = "") -> None:
        super().__init__()
        self._budget = budget
        self._prices = prices
        self._model = model

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any] | AIMessage:
        """Let the model answer while there is budget left; near its end, ask it for its last answer."""
        meter = getattr(request.runtime.context, "meter", None)
        if not isinstance(meter, Meter):
            return await handler(request)
        meter.budget = meter.budget.within(self._budget)
        if limit := meter.over():
            log.info("budget.used_up", limit=limit, **meter.used)
            why = sentence(limit, meter.budget)
            return AIMessage(found_so_far(request.messages, why))
        if meter.nearly_over():
            request = request.override(system_message=_with_last(request.system_message))
        response = await handler(request)
        self._count(meter, response)
        return response

    def _count(self, meter: Meter, response: Any) -> None:
        answered = getattr(response, "model_response", response)
        messages = answered.result if isinstance(answered, ModelResponse) else [answered]
        for message in messages:
            if isinstance(message, AIMessage):
                model = str(message.response_metadata.get("model_name") or self._model)
                usage = priced(usage_of(message), model, self._prices)
                if usage.cost_usd:
                    message.response_metadata |= COST.entry(usage.cost_usd)
                meter.add(usage, steps=1)


def recursion_limit(calls: int) -> int:
    """A LangGraph recursion limit that `calls` model calls do not reach.

    A call takes one superstep, its tools one, and each `before_model` and `after_model` hook one.
    """
    return _SUPERSTEPS_PER_CALL * calls + _SUPERSTEPS_BESIDES


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
    return failure_in(message) is None and bool(full_text(message).strip())


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST_RESULT else f"{text[:_LONGEST_RESULT].rstrip()}…"


def _with_last(system: SystemMessage | None) -> SystemMessage:
    return SystemMessage(f"{system.text if system else ''}{_LAST}")
