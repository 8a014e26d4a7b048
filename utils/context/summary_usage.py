"""Counts the tokens of summary model calls, which the graph's stream does not report."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from langchain_core.callbacks import UsageMetadataCallbackHandler
from langchain_core.tracers.context import register_configure_hook

from utils.events import Usage

_meter: ContextVar[UsageMetadataCallbackHandler | None] = ContextVar("context_usage", default=None)
register_configure_hook(_meter, inheritable=True)


class SummaryUsage:
    """Usage that the model calls inside a `summary_usage` block reported."""

    def __init__(self, handler: UsageMetadataCallbackHandler) -> None:
        self._handler = handler

    @property
    def total(self) -> Usage | None:
        """The sum; `None` if no call reported any."""
        total = None
        for used in self._handler.usage_metadata.values():
            cached = used.get("input_token_details", {}).get("cache_read", 0) or 0
            total = (total or Usage()) + Usage(
                input_tokens=used["input_tokens"], output_tokens=used["output_tokens"], cached_tokens=cached
            )
        return total


@contextmanager
def summary_usage() -> Iterator[SummaryUsage]:
    """Record the usage of every model call of this asyncio task and its children inside the block."""
    handler = UsageMetadataCallbackHandler()
    token = _meter.set(handler)
    try:
        yield SummaryUsage(handler)
    finally:
        _meter.reset(token)
