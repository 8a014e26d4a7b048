"""Interfaces that the pipeline depends on: token counter, summariser, artifact store."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from langchain_core.messages import BaseMessage


class TokenCounter(Protocol):
    """Counts tokens. `utils.messages.counter.MessageCounter` is the real one."""

    def text(self, text: str) -> int:
        """Tokens of plain text."""
        ...

    def message(self, message: BaseMessage) -> int:
        """Tokens that one message adds to a request."""
        ...

    def messages(self, messages: Iterable[BaseMessage]) -> int:
        """Tokens of a request's messages, including those that open the reply."""
        ...

    def tools(self, tools: Sequence[Mapping[str, Any]]) -> int:
        """Tokens of tool schemas."""
        ...


class Summariser(Protocol):
    """Shortens text. May raise `utils.errors.ModelFailure`; the caller then makes an extract."""

    @property
    def name(self) -> str:
        """Short name for reports."""
        ...

    @property
    def window(self) -> int:
        """Most tokens of text in one call."""
        ...

    async def summarise(self, text: str, *, previous: str, max_tokens: int) -> str:
        """Summarise a part of a conversation together with the summary of what came before it.

        Args:
            text: The rendered conversation; at most `window` tokens together with `previous`.
            previous: The summary so far; may be empty.
            max_tokens: Most tokens that the summary should have.
        """
        ...

    async def shorten(self, text: str, *, title: str, guidance: str, max_tokens: int) -> str:
        """Shorten a retrieved text to what matters for the question `guidance`."""
        ...


class ArtifactStore(Protocol):
    """Stores texts by scope and handle; each conversation is a scope of its own."""

    async def put(self, scope: str, artifacts: Mapping[str, str]) -> None:
        """Store texts by handle. Idempotent."""
        ...

    async def get(self, scope: str, handle: str) -> str | None:
        """The text, or `None` if this scope has no such handle."""
        ...

    async def delete_scope(self, scope: str) -> int:
        """Delete all texts of a scope, and return their number."""
        ...
