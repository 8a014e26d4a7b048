"""Keeps the results of sub-agents when the model that should answer from them fails."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import structlog
from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage

from multi_agents.platform_engineer.synthesis import synthesis_prompt
from utils.a2a_common.graph.model.results_fallback import has_results, results_answer
from utils.a2a_common.graph.run.turn_usage import usage_of
from utils.context.refused import Refused, without_refused
from utils.errors import (
    AuthFailed,
    ContextBudgetExceeded,
    ModelFailure,
    ModelUnavailable,
    PlatformError,
    RateLimited,
)
from utils.events import ModelRetried
from utils.llm.classify import classify
from utils.llm.reply.answer import read_answer
from utils.observability.observed import observed_model_call
from utils.observability.tracebacks import causes_of

log = structlog.get_logger(__name__)

_INSTRUCTION = Path(__file__).parent / "prompts" / "synthesis.md"
_WHATEVER_ITS_SIZE = (AuthFailed, ModelUnavailable, RateLimited)
"""Failures that a smaller request meets as well."""


class SynthesisFallback(AgentMiddleware[Any, Any]):
    """Answers from the results if the conversation cannot be answered: with a small prompt, otherwise without a model.

    It is outside of the recovery of model calls: an error that arrives here has passed every other remedy.

    Args:
        turns: How many earlier turns the small prompt contains.
    """

    def __init__(self, turns: int) -> None:
        super().__init__()
        self._turns = turns
        self._instruction = SystemMessage(_INSTRUCTION.read_text("utf-8"))

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any] | AIMessage:
        """Let the model answer; if it fails, answer from the results so far, if there are any.

        Raises:
            PlatformError: The model failed, and there are no results to answer with.
        """
        try:
            return await handler(request)
        except (ModelFailure, ContextBudgetExceeded) as error:
            if not has_results(request):
                raise
            log.warning("synthesis.failed", code=error.code, causes=causes_of(error))
            return await self._small(request, error) or results_answer(request, error)

    async def _small(self, request: ModelRequest[Any], error: PlatformError) -> AIMessage | None:
        """The answer to the small prompt; `None` if a smaller request does not help."""
        if isinstance(error, _WHATEVER_ITS_SIZE):
            return None
        request.runtime.stream_writer(ModelRetried(error.code, attempt=1))
        prompt = synthesis_prompt(
            without_refused(request.messages, Refused.from_state(request.state)), self._turns
        )
        try:
            with observed_model_call(type(request.model).__name__) as call:
                answer = await request.model.ainvoke([self._instruction, HumanMessage(prompt)])
                call.usage = usage_of(answer)
            read = read_answer(answer, ())
        except Exception as again:
            failure = classify(again)
            if failure is None:
                raise
            log.warning("synthesis.small_failed", code=failure.code, causes=causes_of(again))
            return None
        log.info("synthesis.small", characters=len(prompt), code=error.code)
        return read
