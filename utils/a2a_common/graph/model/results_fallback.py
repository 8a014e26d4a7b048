"""Builds an answer from the results of the turn when the model cannot write one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import structlog
from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
from langchain_core.messages import AIMessage

from utils.a2a_common.graph.model.found_results import answer_from, found_in_turn
from utils.errors import ContextBudgetExceeded, ModelFailure, PlatformError
from utils.events import Partial, TextRestarted
from utils.messages.marks import PARTIAL
from utils.observability.tracebacks import causes_of

log = structlog.get_logger(__name__)


class ResultsFallback(AgentMiddleware[Any, Any]):
    """Middleware around the recovery of model calls: what comes here is past every other remedy."""

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any] | AIMessage:
        """Call the model; if it fails and a tool returned something in this turn, answer with that.

        Raises:
            PlatformError: The model failed, and there is no result, or the answer must fill a schema.
        """
        try:
            return await handler(request)
        except (ModelFailure, ContextBudgetExceeded) as error:
            if request.response_format is not None or not has_results(request):
                raise
            log.warning("model.answered_from_results", code=error.code, causes=causes_of(error))
            return results_answer(request, error)


def has_results(request: ModelRequest[Any]) -> bool:
    """Whether a tool returned something in this turn that is not a failure."""
    return not all(each.failed for each in found_in_turn(request.messages))


def results_answer(request: ModelRequest[Any], error: PlatformError) -> AIMessage:
    """The answer made of the results; it replaces the text so far and carries why it is incomplete."""
    request.runtime.stream_writer(TextRestarted())
    partial = Partial(error.code, error.message, error.retryable)
    text = answer_from(found_in_turn(request.messages), error.message)
    return AIMessage(text, response_metadata=PARTIAL.entry(partial))
