"""Usage that LangChain's callbacks report: of one request to the model, if it is plausible, and of summaries.

What a server reports of a request may be wrong, and the graph's stream does not report what summaries use.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import Any
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.outputs import ChatGeneration, LLMResult
from langchain_core.tracers.context import register_configure_hook

from utils.events import Usage
from utils.messages.counter import MessageCounter
from utils.messages.usage import with_usage
from utils.process_wide import MODEL_CALLBACKS, declare


class ReportedUsage(BaseCallbackHandler):
    """The usage of each chunk of the last model run, since LangChain adds them up, beside our own count.

    Args:
        charged: Tokens of the request by our own count, as the provider should charge them; `None` where no server
            charges for it.
        counter: Counts the tokens of the answer.
    """

    run_inline = True

    def __init__(self, charged: int | None, counter: MessageCounter) -> None:
        self._charged = charged
        self._counter = counter
        self._chunks: list[UsageMetadata] = []
        self._run: UUID | None = None

    def on_chat_model_start(self, *_args: Any, run_id: UUID, **_kwargs: Any) -> None:
        """Start of a run: discard the data of an earlier run."""
        self._run = run_id
        self._chunks.clear()

    def on_llm_new_token(self, token: Any, *, chunk: Any = None, run_id: UUID, **_kwargs: Any) -> None:
        """Record a chunk's usage."""
        del token
        message = getattr(chunk, "message", None)
        if run_id == self._run and isinstance(message, AIMessageChunk) and message.usage_metadata:
            self._chunks.append(message.usage_metadata)

    def believed(self, answer: AIMessage) -> AIMessage:
        """The answer of the last run, with a plausible usage."""
        if self._charged is None:
            return answer
        return with_usage(answer, self._charged, self._counter, self._chunks)


_current: ContextVar[ReportedUsage | None] = ContextVar("reported_usage", default=None)
declare(MODEL_CALLBACKS, partial(register_configure_hook, _current, inheritable=True))


@contextmanager
def reported_usage(charged: int | None, counter: MessageCounter) -> Iterator[ReportedUsage]:
    """Collect from the model runs of this block."""
    usage = ReportedUsage(charged, counter)
    token = _current.set(usage)
    try:
        yield usage
    finally:
        _current.reset(token)


def believed(answer: AIMessage) -> AIMessage:
    """The answer with the usage that the surrounding block accepts; unchanged outside of one."""
    current = _current.get()
    return answer if current is None else current.believed(answer)


class SummaryUsage(BaseCallbackHandler):
    """The usage of the model calls inside a `summary_usage` block.

    A missing or implausible report is replaced by our own count, as for every other model call.

    Attributes:
        total: The sum; `None` before the first call has ended.
    """

    def __init__(self) -> None:
        self.total: Usage | None = None
        self._counter = MessageCounter()
        self._asked: dict[UUID, int] = {}
        self._lock = threading.Lock()  # LangChain calls back in threads, and calls run side by side

    def on_chat_model_start(
        self, serialized: dict[str, Any], messages: list[list[BaseMessage]], *, run_id: UUID, **kwargs: Any
    ) -> None:
        """Count the request."""
        del serialized, kwargs
        self._asked[run_id] = sum(map(self._counter.messages, messages))

    def on_llm_end(self, response: LLMResult, *, run_id: UUID, **kwargs: Any) -> None:
        """Add what the call used."""
        del kwargs
        charged = self._asked.pop(run_id, 0)
        for generation in (each for batch in response.generations for each in batch):
            if isinstance(generation, ChatGeneration) and isinstance(generation.message, AIMessage):
                self._add(with_usage(generation.message, charged, self._counter))

    def _add(self, answer: AIMessage) -> None:
        used = answer.usage_metadata
        if used is None:
            return
        cached = used.get("input_token_details", {}).get("cache_read", 0) or 0
        usage = Usage(
            input_tokens=used["input_tokens"], output_tokens=used["output_tokens"], cached_tokens=cached
        )
        with self._lock:
            self.total = (self.total or Usage()) + usage


_meter: ContextVar[SummaryUsage | None] = ContextVar("context_usage", default=None)
declare(MODEL_CALLBACKS, partial(register_configure_hook, _meter, inheritable=True))


@contextmanager
def summary_usage() -> Iterator[SummaryUsage]:
    """Record the usage of every model call of this asyncio task and its children inside the block."""
    meter = SummaryUsage()
    token = _meter.set(meter)
    try:
        yield meter
    finally:
        _meter.reset(token)
