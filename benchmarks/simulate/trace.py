"""What happened in a schedule, in short lines."""

from __future__ import annotations

from collections.abc import Callable


class Trace:
    """The steps of a schedule, for a reader of a violation; nothing is decided by them."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self.lines: list[str] = []

    def note(self, who: str, what: str) -> None:
        """Add a line."""
        self.lines.append(f"{self._clock():9.4f}  {who:<9} {what}")
