"""Counts the tokens of summary model calls, which the graph's stream does not report."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, LLMResult
from langchain_core.tracers.context import register_configure_hook

from utils.events import Usage
from utils.messages.counter import MessageCounter
from utils.messages.usage import with_usage

_meter: ContextVar[SummaryUsage | None] = ContextVar("context_usage", default=None)


class SummaryUsage(BaseCallbackHandler):
    """What the model calls inside a `summary_usage` block used.

    A report that cannot be right, or none, is replaced by our own count, as for every other model call.

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


register_configure_hook(_meter, inheritable=True)


@contextmanager
def summary_usage() -> Iterator[SummaryUsage]:
    """Record the usage of every model call of this asyncio task and its children inside the block."""
    meter = SummaryUsage()
    token = _meter.set(meter)
    try:
        yield meter
    finally:
        _meter.reset(token)
