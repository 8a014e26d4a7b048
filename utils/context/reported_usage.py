"""What a server reports as the usage of one request, and what of it is believed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.messages.ai import UsageMetadata
from langchain_core.tracers.context import register_configure_hook

from utils.messages.counter import MessageCounter
from utils.messages.usage import with_usage


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
        """Start of a run: discard what an earlier run left."""
        self._run = run_id
        self._chunks.clear()

    def on_llm_new_token(self, token: Any, *, chunk: Any = None, run_id: UUID, **_kwargs: Any) -> None:
        """Note a chunk's usage."""
        del token
        message = getattr(chunk, "message", None)
        if run_id == self._run and isinstance(message, AIMessageChunk) and message.usage_metadata:
            self._chunks.append(message.usage_metadata)

    def believed(self, answer: AIMessage) -> AIMessage:
        """The answer of the last run, with a usage that can be right."""
        if self._charged is None:
            return answer
        return with_usage(answer, self._charged, self._counter, self._chunks)


_current: ContextVar[ReportedUsage | None] = ContextVar("reported_usage", default=None)
register_configure_hook(_current, inheritable=True)


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
    """The answer with the usage that the block around this call believes; unchanged outside of one."""
    current = _current.get()
    return answer if current is None else current.believed(answer)
