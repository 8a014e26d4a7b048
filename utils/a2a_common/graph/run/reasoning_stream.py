"""Joins the pieces of a model's reasoning into events of some lines each."""

from __future__ import annotations

from collections.abc import Iterator

from utils.events import ModelReasoned

LONGEST_PIECE = 400
"""Characters of one event; each is a status update on the wire."""

MOST_SHOWN = 20_000
"""Characters of reasoning that one turn shows."""


class ReasoningStream:
    """The reasoning of one turn.

    Args:
        shown: Whether it is shown at all.
    """

    def __init__(self, *, shown: bool) -> None:
        self._left = MOST_SHOWN if shown else 0
        self._held = ""

    def feed(self, text: str) -> Iterator[ModelReasoned]:
        """Add a piece; return the event once the text is long enough."""
        self._held = (self._held + text)[: self._left]
        if len(self._held) >= min(LONGEST_PIECE, self._left):
            yield from self.flush()

    def flush(self) -> Iterator[ModelReasoned]:
        """The event of the buffered text."""
        text, self._held = self._held, ""
        self._left -= len(text)
        if text.strip():
            yield ModelReasoned(text)
