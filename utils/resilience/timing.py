"""How long something may still take, and how long to wait before it is tried again."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass

_MOST_DOUBLINGS = 30  # an attempt is counted for as long as a server is down

LONGEST_WAIT = 30.0
"""Most seconds between two tries, unless the other side asks for more."""


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


def backoff(attempt: int, *, first: float = 1.0, longest: float = LONGEST_WAIT) -> float:
    """Seconds before try `attempt` + 1: doubled each time, with jitter, so that many do not come at once.

    Args:
        attempt: How many tries there were, from 1.
        first: Seconds after the first try.
        longest: Most seconds.
    """
    full: float = min(longest, first * 2 ** min(attempt - 1, _MOST_DOUBLINGS))
    return full * random.uniform(0.5, 1.0)  # noqa: S311 - jitter, not a secret
