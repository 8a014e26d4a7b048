"""Collects the usage of each chunk of a streamed answer, since LangChain adds them up."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AIMessageChunk
from langchain_core.messages.ai import UsageMetadata
from langchain_core.tracers.context import register_configure_hook


class ChunkUsage(BaseCallbackHandler):
    """Callback handler with the usages of the last model run's chunks."""

    run_inline = True

    def __init__(self) -> None:
        self.chunks: list[UsageMetadata] = []
        self._run: UUID | None = None

    def on_chat_model_start(self, *_args: Any, run_id: UUID, **_kwargs: Any) -> None:
        """Start of a run: discard what an earlier run left."""
        self._run = run_id
        self.chunks.clear()

    def on_llm_new_token(self, token: Any, *, chunk: Any = None, run_id: UUID, **_kwargs: Any) -> None:
        """Note a chunk's usage."""
        del token
        message = getattr(chunk, "message", None)
        if run_id == self._run and isinstance(message, AIMessageChunk) and message.usage_metadata:
            self.chunks.append(message.usage_metadata)


_collecting: ContextVar[ChunkUsage | None] = ContextVar("chunk_usage", default=None)
register_configure_hook(_collecting, inheritable=True)


@contextmanager
def chunk_usage() -> Iterator[ChunkUsage]:
    """Collect from the model runs of this block."""
    usage = ChunkUsage()
    token = _collecting.set(usage)
    try:
        yield usage
    finally:
        _collecting.reset(token)
