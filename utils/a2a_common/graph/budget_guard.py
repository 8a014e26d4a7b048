"""Ends a task that used up its budget with an answer from what was found, instead of an error."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import structlog
from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
from langchain_core.messages import AIMessage, SystemMessage

from utils.a2a_common.graph.stream_translator import COST, usage_of
from utils.context.call_limit import STOPPED, found_so_far
from utils.llm.prices import PRICES, Price, priced
from utils.resilience.budget import Budget, Meter, sentence

log = structlog.get_logger(__name__)

_LAST = (
    "\n\nThe budget of this task is nearly used up. Call no tool any more. Answer now from what you have, and "
    "say what is missing."
)


class BudgetGuard(AgentMiddleware[Any, Any]):
    """Counts each model call on the request's meter, and ends the turn where its budget is used up.

    Args:
        budget: What the agent's settings allow; a request's own budget counts where it is stricter.
        prices: What models cost.
        model: Name of the agent's model, where its answers do not tell it.
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
            return AIMessage(found_so_far(request.messages, why), response_metadata={STOPPED: limit})
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
                    message.response_metadata[COST] = usage.cost_usd
                meter.add(usage, steps=1)


def _with_last(system: SystemMessage | None) -> SystemMessage:
    return SystemMessage(f"{system.text if system else ''}{_LAST}")
