"""`WaitEstimate`: after how many seconds a refused client should try again, from the durations of recent turns."""

from __future__ import annotations

import math
from collections import deque

_RECENT = 32
"""Ended turns that the estimate is made from."""

SHORTEST, LONGEST = 1.0, 60.0
"""Bounds of the estimate in seconds: one long turn must not send clients away for an hour."""


class WaitEstimate:
    """The durations of recent turns.

    Args:
        at_once: Turns that run at the same time.
    """

    def __init__(self, at_once: int) -> None:
        self._at_once = at_once
        self._recent: deque[float] = deque(maxlen=_RECENT)

    def note(self, seconds: float) -> None:
        """Record the duration of a turn that has ended."""
        self._recent.append(seconds)

    def retry_after(self, waiting: int) -> float:
        """Whole seconds after which the turns that wait now have begun, within the bounds.

        Args:
            waiting: How many turns wait.
        """
        mean = sum(self._recent) / len(self._recent) if self._recent else SHORTEST
        return float(math.ceil(min(LONGEST, max(SHORTEST, mean * waiting / self._at_once))))
