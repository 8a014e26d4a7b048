"""Recovers a model call, for the supervisor and every other agent alike.

It stands around the context middleware: each further try is prepared anew, for what was learnt
since. What went wrong is told by types (`utils.llm.classify`), what to do by `plan.py`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import structlog
from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage

from utils.context.middleware import COMPACT_NOW
from utils.errors import EmptyResponse, ModelFailure
from utils.events import ModelRetried
from utils.llm.classify import classify
from utils.messages.text import message_text
from utils.resilience.deadline import Deadline
from utils.resilience.plan import Retry, RetryPlan

log = structlog.get_logger(__name__)

Sleep = Callable[[float], Awaitable[None]]

_NOTHING = "The model gave no answer. Please try again."


class ModelRecovery(AgentMiddleware[Any, Any]):
    """Tries a failed model call again where that can help, and says so.

    Args:
        fallback: Asked where the agent's own model is down.
        most_seconds: Longest wait for a busy provider, for one model call.
        sleep: Waits.
    """

    def __init__(
        self,
        *,
        fallback: BaseChatModel | None = None,
        most_seconds: float = 60.0,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        super().__init__()
        self._fallback = fallback
        self._most_seconds = most_seconds
        self._sleep = sleep

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> Any:
        """Let the model answer, in as many tries as the plan allows.

        Raises:
            ModelFailure: No try helped.
        """
        plan = RetryPlan(
            has_fallback=self._fallback is not None,
            most_seconds=self._most_seconds,
            deadline=Deadline(getattr(request.runtime.context, "deadline", None)),
        )
        while True:
            try:
                return _not_empty(await handler(request))
            except Exception as error:
                failure = classify(error)
                if failure is None:
                    raise
                request = await self._next(request, plan, failure)

    async def _next(
        self, request: ModelRequest[Any], plan: RetryPlan, failure: ModelFailure
    ) -> ModelRequest[Any]:
        """The request of the next try, after the wait before it."""
        retry = plan.after(failure)
        if retry is None:
            raise failure
        log.warning(
            "model.retry",
            code=failure.code,
            attempt=plan.attempts,
            seconds=round(retry.seconds, 1),
            fallback=retry.fallback,
            cause=type(failure.__cause__ or failure).__name__,
        )
        request.runtime.stream_writer(
            ModelRetried(failure.code, plan.attempts, retry.seconds, fallback=retry.fallback)
        )
        if retry.seconds:
            await self._sleep(retry.seconds)
        return self._changed(request, retry)

    def _changed(self, request: ModelRequest[Any], retry: Retry) -> ModelRequest[Any]:
        if retry.fallback and self._fallback is not None:
            request = request.override(model=self._fallback)
        if retry.compact:
            state: Any = {**request.state, COMPACT_NOW: True}
            request = request.override(state=state)
        return request


def _not_empty(response: Any) -> Any:
    """The response, where it says anything.

    Raises:
        EmptyResponse: Neither text nor a tool call.
    """
    answered = getattr(response, "model_response", response)
    messages = answered.result if isinstance(answered, ModelResponse) else [answered]
    for message in messages:
        if not isinstance(message, AIMessage) or message.tool_calls or message_text(message).strip():
            return response
    raise EmptyResponse(_NOTHING)
