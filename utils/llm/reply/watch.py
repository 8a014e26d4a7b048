"""Watches a model's reply while it is streamed: the raw arguments of its tool calls, and endless repetition.

LangChain completes truncated JSON, so a message alone does not show whether a call was cut off.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import Any
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AIMessageChunk
from langchain_core.messages.ai import add_ai_message_chunks
from langchain_core.messages.tool import ToolCallChunk
from langchain_core.tracers.context import register_configure_hook

from utils.errors import AnswerRepeated
from utils.llm.reply.many_calls import check_number
from utils.llm.reply.native_calls import is_json
from utils.llm.reply.repetition import repeated_from
from utils.llm.reply.thoughts import reasoning_of
from utils.messages.text import message_text
from utils.process_wide import MODEL_CALLBACKS, declare

REPEATED = "The model repeated itself without end and was stopped."

_CHECK_EVERY = 1_000
"""Characters between two searches for repetition."""


class ReplyWatch(BaseCallbackHandler):
    """Callback handler for the last model run of a block. It ends a reply that repeats itself or calls tools without end."""

    run_inline = True
    raise_error = True

    def __init__(self) -> None:
        self._run: UUID | None = None
        self._parts: list[AIMessageChunk] = []
        self._begun: tuple[set[object], set[object]] = set(), set()
        self._streams = {"text": _Stream(), "reasoning": _Stream(), "arguments": _Stream()}

    @property
    def broken(self) -> Sequence[str]:
        """Raw arguments of calls that are not complete JSON. Empty arguments count as complete."""
        if not self._parts:
            return ()
        joined = add_ai_message_chunks(*self._parts)  # as LangChain itself joins them
        arguments = [(part["args"] or "").strip() for part in joined.tool_call_chunks]
        return [text for text in arguments if not is_json(text)]

    def on_chat_model_start(self, *_args: Any, run_id: UUID, **_kwargs: Any) -> None:
        """Start of a run: discard the data of an earlier run."""
        self._run = run_id
        self._parts.clear()
        self._begun = set(), set()
        self._streams = {name: _Stream() for name in self._streams}

    def on_llm_new_token(self, token: Any, *, chunk: Any = None, run_id: UUID, **_kwargs: Any) -> None:
        """Collect a chunk of the answer.

        Raises:
            AnswerRepeated: The reply repeats itself; the error carries the text so far.
            CallsTooMany: It holds more calls than are run.
        """
        del token
        message = getattr(chunk, "message", None)
        if run_id != self._run or not isinstance(message, AIMessageChunk):
            return
        calls = message.tool_call_chunks
        if calls:
            self._parts.append(AIMessageChunk(content="", tool_call_chunks=calls))
            self._count(calls)
        texts = {
            "text": message_text(message),
            "reasoning": reasoning_of(message),
            "arguments": "".join(call["args"] or "" for call in calls),
        }
        for name, text in texts.items():
            if text and self._streams[name].repeats_with(text):
                raise AnswerRepeated(REPEATED, text="" if self._parts else self._streams["text"].text)

    def _count(self, calls: Sequence[ToolCallChunk]) -> None:
        """Note where calls begin: some servers number them, others give each an id alone."""
        indexes, ids = self._begun
        indexes.update(call["index"] for call in calls if call["index"] is not None)
        ids.update(call["id"] for call in calls if call["id"])
        check_number(max(len(indexes), len(ids)))


class _Stream:
    """One stream of text of a reply."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._unchecked = 0

    @property
    def text(self) -> str:
        return "".join(self._pieces)

    def repeats_with(self, piece: str) -> bool:
        """Add a chunk; returns whether the text repeats itself, which is checked at intervals."""
        self._pieces.append(piece)
        self._unchecked += len(piece)
        if self._unchecked < _CHECK_EVERY:
            return False
        self._unchecked = 0
        return repeated_from(self.text) is not None


_collecting: ContextVar[ReplyWatch | None] = ContextVar("reply_watch", default=None)
declare(MODEL_CALLBACKS, partial(register_configure_hook, _collecting, inheritable=True))


@contextmanager
def watched_reply() -> Iterator[ReplyWatch]:
    """Watch the model runs of this block."""
    watch = ReplyWatch()
    token = _collecting.set(watch)
    try:
        yield watch
    finally:
        _collecting.reset(token)
