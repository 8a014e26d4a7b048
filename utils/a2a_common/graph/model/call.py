"""Innermost middleware, around each request to the model: its span and metrics, its time limits, and the sign that it is waited for."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from functools import partial
from typing import Any

import structlog
from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AIMessage
from langchain_core.tracers.context import register_configure_hook

from utils.a2a_common.graph.run.turn_usage import usage_of
from utils.cancellation import end_tasks
from utils.context.called_usage import believed
from utils.errors import ModelSlow
from utils.events import ModelWaited
from utils.llm.reply.thoughts import reasoning_of
from utils.messages.characters import of_whole_characters
from utils.messages.notes import timestamped
from utils.observability.observed import observed_model_call
from utils.process_wide import MODEL_CALLBACKS, declare

log = structlog.get_logger(__name__)

NOT_BEGUN = (
    "The model did not begin to answer within {seconds:g} seconds. Raise LLM_TIMEOUT_SECONDS, or choose a faster "
    "model."
)
STALLED = (
    "The model stopped in the middle of its answer for {seconds:g} seconds. Raise LLM_STREAM_TIMEOUT_SECONDS, or "
    "choose a faster model."
)

FIRST_SIGN = 2.0
"""Seconds of silence after which it is first reported that the model is waited for."""

_SECOND_SIGN = 5.0
_LATER_SIGNS = 10.0


class ModelCall(AgentMiddleware[Any, Any]):
    """One request to the model, as the provider gets it: after all preparation, and each attempt separately.

    Args:
        first: Most seconds to the first token, or to the complete answer where the model does not stream.
        between: Most seconds between two tokens.
    """

    def __init__(self, first: float, between: float) -> None:
        super().__init__()
        self._first = first
        self._between = between

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        """Let the model answer, and note when, and its tokens: those that the context management believes.

        Raises:
            ModelSlow: It took longer than a limit.
        """
        with observed_model_call(name_of(request.model)) as call:
            response = await self._in_time(request, handler)
            for message in response.result:
                if isinstance(message, AIMessage):
                    _with_whole_characters(message)
                    message.additional_kwargs |= timestamped(datetime.now(UTC))
                    if (answer := believed(message)).usage_metadata:
                        call.usage = usage_of(answer)
            return response

    async def _in_time(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        limit = asyncio.timeout(self._first)
        pace = _Pace(limit, self._between)
        signs = asyncio.create_task(pace.report(request.runtime.stream_writer))
        try:
            with _observed(pace):
                async with limit:
                    return await handler(request)
        except TimeoutError as error:
            if not limit.expired():
                raise
            seconds = self._between if pace.begun else self._first
            log.warning("model.slow", seconds=seconds, begun=pace.begun)
            sentence = STALLED if pace.begun else NOT_BEGUN
            raise ModelSlow(sentence.format(seconds=seconds), begun=pace.begun) from error
        finally:
            await end_tasks([signs])


def _with_whole_characters(message: AIMessage) -> None:
    """Replace halves of characters, which no store and no provider takes: a reply that was cut within an emoji has one."""
    message.content = of_whole_characters(message.content)
    message.tool_calls = of_whole_characters(message.tool_calls)
    message.invalid_tool_calls = of_whole_characters(message.invalid_tool_calls)
    message.additional_kwargs = of_whole_characters(message.additional_kwargs)


class _Pace(BaseCallbackHandler):
    """When the last token of a request came."""

    run_inline = True

    def __init__(self, limit: asyncio.Timeout, between: float) -> None:
        self._limit = limit
        self._between = between
        self._loop = asyncio.get_running_loop()
        self._last = self._loop.time()
        self._reported = 0.0
        self.begun = False

    def on_chat_model_start(self, *_args: Any, **_kwargs: Any) -> None:
        """Do nothing. Without this method LangChain would serialise the whole conversation for the handler."""

    def on_llm_new_token(self, token: Any, *, chunk: Any = None, **_kwargs: Any) -> None:
        """Move the limit; chunks without content before the first token do not count."""
        message = getattr(chunk, "message", None)
        has_content = (
            token or getattr(message, "tool_call_chunks", None) or (message and reasoning_of(message))
        )
        if not (self.begun or has_content) or self._limit.expired():
            return
        self.begun, self._reported, self._last = True, 0.0, self._loop.time()
        self._limit.reschedule(self._last + self._between)

    async def report(self, write: Callable[[ModelWaited], None]) -> None:
        """Report silence: after two seconds, five, and each ten."""
        while True:
            due = _next_sign(self._reported)
            await asyncio.sleep(max(0.0, self._last + due - self._loop.time()))
            if self._loop.time() - self._last >= due:
                self._reported = due
                write(ModelWaited(due, begun=self.begun))


def _next_sign(reported: float) -> float:
    if reported < FIRST_SIGN:
        return FIRST_SIGN
    if reported < _SECOND_SIGN:
        return _SECOND_SIGN
    return reported - reported % _LATER_SIGNS + _LATER_SIGNS


_observing: ContextVar[_Pace | None] = ContextVar("pace_of_model_call", default=None)
declare(MODEL_CALLBACKS, partial(register_configure_hook, _observing, inheritable=True))


@contextmanager
def _observed(pace: _Pace) -> Iterator[None]:
    token = _observing.set(pace)
    try:
        yield
    finally:
        _observing.reset(token)


def name_of(model: Any) -> str:
    """The provider's name of the model, or its class if it has no name."""
    for attribute in ("model_name", "model_id", "model"):
        if isinstance(name := getattr(model, attribute, None), str) and name:
            return name
    return type(model).__name__
