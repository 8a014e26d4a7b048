"""Collects the raw arguments of a model's tool calls, as the provider sent them.

LangChain completes truncated JSON, so a message alone does not show whether a call was cut off.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AIMessageChunk
from langchain_core.messages.ai import add_ai_message_chunks
from langchain_core.tracers.context import register_configure_hook


class RawCalls(BaseCallbackHandler):
    """Callback handler that collects the arguments streamed by the last model run."""

    run_inline = True

    def __init__(self) -> None:
        self._run: UUID | None = None
        self._parts: list[AIMessageChunk] = []

    @property
    def broken(self) -> bool:
        """Whether the arguments of a call are not complete JSON. Empty arguments are complete."""
        if not self._parts:
            return False
        whole = add_ai_message_chunks(*self._parts)  # as LangChain itself joins them
        return not all(_is_whole(part["args"] or "") for part in whole.tool_call_chunks)

    def on_chat_model_start(self, *_args: Any, run_id: UUID, **_kwargs: Any) -> None:
        """Start of a run: discard what an earlier run left."""
        self._run = run_id
        self._parts.clear()

    def on_llm_new_token(self, token: Any, *, chunk: Any = None, run_id: UUID, **_kwargs: Any) -> None:
        """Collect a chunk of the answer."""
        del token
        message = getattr(chunk, "message", None)
        if run_id == self._run and isinstance(message, AIMessageChunk) and message.tool_call_chunks:
            self._parts.append(AIMessageChunk(content="", tool_call_chunks=message.tool_call_chunks))


_collecting: ContextVar[RawCalls | None] = ContextVar("raw_calls", default=None)
register_configure_hook(_collecting, inheritable=True)


@contextmanager
def raw_calls() -> Iterator[RawCalls]:
    """Collect from the model runs of this block."""
    calls = RawCalls()
    token = _collecting.set(calls)
    try:
        yield calls
    finally:
        _collecting.reset(token)


def _is_whole(arguments: str) -> bool:
    if not arguments.strip():
        return True
    try:
        json.loads(arguments, strict=False)
    except ValueError:
        return False
    return True
