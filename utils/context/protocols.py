"""What the pipeline is handed: something that counts, something that summarises, somewhere to put text."""

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
        """Tokens of a request's messages, with those that open the answer."""
        ...

    def tools(self, tools: Sequence[Mapping[str, Any]]) -> int:
        """Tokens of tool schemas."""
        ...


class Summariser(Protocol):
    """Makes text shorter. May raise `utils.errors.ModelFailure`; the caller then falls back."""

    @property
    def name(self) -> str:
        """Short name for reports."""
        ...

    @property
    def window(self) -> int:
        """Most tokens of text that one call may be given."""
        ...

    async def summarise(self, text: str, *, previous: str, max_tokens: int) -> str:
        """A summary of a piece of conversation that continues `previous`, which it may replace.

        Args:
            text: The conversation, rendered; at most `window` tokens together with `previous`.
            previous: The summary so far, or nothing.
            max_tokens: How long the summary should be at most.
        """
        ...

    async def shorten(self, text: str, *, title: str, guidance: str, max_tokens: int) -> str:
        """What matters in a retrieved text for the question `guidance`."""
        ...


class ArtifactStore(Protocol):
    """Keeps texts under handles, by scope: a conversation reads its own only."""

    async def put(self, scope: str, artifacts: Mapping[str, str]) -> None:
        """Keep texts by handle. Keeping the same again changes nothing."""
        ...

    async def get(self, scope: str, handle: str) -> str | None:
        """The text, or `None` where this scope has none of that handle."""
        ...

    async def delete_scope(self, scope: str) -> int:
        """Delete all texts of a scope; how many there were."""
        ...
