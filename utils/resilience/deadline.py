"""How long something may still take."""

from __future__ import annotations

import time
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Deadline:
    """A moment on the monotonic clock of this process; `None` is never.

    Attributes:
        at: `time.monotonic()` at which it is too late.
    """

    at: float | None = None

    @classmethod
    def after(cls, seconds: float | None) -> Deadline:
        """The deadline that many seconds from now; never for `None`."""
        return cls(None if seconds is None else time.monotonic() + seconds)

    @property
    def left(self) -> float:
        """Seconds until then, at least 0; infinite for never."""
        return float("inf") if self.at is None else max(0.0, self.at - time.monotonic())

    def allows(self, seconds: float) -> bool:
        """Whether that many seconds pass before it."""
        return seconds < self.left
