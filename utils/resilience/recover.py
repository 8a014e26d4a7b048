"""Retries failed model calls, for every agent.

It wraps the context middleware, so each try prepares its request again. `utils.llm.classify` and `answer.py` give a
failure its type, `retry_plan.py` decides what to do about it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import replace
from typing import Any

import structlog
from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
from langchain.agents.middleware.types import ExtendedModelResponse
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, SystemMessage

from utils.context.middleware import COMPACT_NOW
from utils.errors import ModelFailure
from utils.events import ModelRetried
from utils.llm.classify import classify
from utils.resilience.answer import read_answer
from utils.resilience.raw_calls import raw_calls
from utils.resilience.retry_plan import Retry, RetryPlan
from utils.resilience.timing import Deadline

log = structlog.get_logger(__name__)

Sleep = Callable[[float], Awaitable[None]]


class ModelRecovery(AgentMiddleware[Any, Any]):
    """Retries a failed model call when that can help, and reports each retry as an event.

    Args:
        fallback: The model to use when the agent's own is down.
        most_seconds: Longest wait for a busy provider, for one model call.
        sleep: Replaces `asyncio.sleep`.
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
        """Call the model, with as many tries as the plan allows.

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
                with raw_calls() as calls:
                    response = await handler(request)
                return _read(response, _names(request.tools), broken=calls.broken)
            except Exception as error:
                failure = classify(error)
                if failure is None:
                    raise
                request = await self._next(request, plan, failure)

    async def _next(
        self, request: ModelRequest[Any], plan: RetryPlan, failure: ModelFailure
    ) -> ModelRequest[Any]:
        """Wait, and return the request of the next try."""
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
        if retry.notice:
            prompt = request.system_prompt
            system = f"{prompt}\n\n{retry.notice}" if prompt else retry.notice
            request = request.override(system_message=SystemMessage(system))
        return request


def _read(response: Any, tools: Collection[str], *, broken: bool) -> Any:
    """The response with its answer validated.

    Raises:
        ModelFailure: The answer cannot be used.
    """
    if isinstance(response, ExtendedModelResponse):
        return replace(response, model_response=_read(response.model_response, tools, broken=broken))
    if isinstance(response, ModelResponse):
        return replace(response, result=[_read(each, tools, broken=broken) for each in response.result])
    return read_answer(response, tools, broken=broken) if isinstance(response, AIMessage) else response


def _names(tools: Sequence[Any]) -> set[str]:
    """Names of the tools of a request, which are tools or schemas."""
    return {
        str(tool.get("name") or tool.get("function", {}).get("name")) if isinstance(tool, dict) else tool.name
        for tool in tools
    }
