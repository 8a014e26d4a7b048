"""The database's clock, as estimated by one process: all replicas use it for time stamps, however their own clocks are set."""

from __future__ import annotations

import time
from collections.abc import Callable

LEAST_DIFFERENCE = 10.0
"""Seconds that a clock may differ without a correction: a response of the database may take long, and times must not jump back and forth."""


class DatabaseClock:
    """The time of this process' clock, corrected by the last time that the database reported.

    If the clock is set back after that, the change is ignored: new data would seem old. A monotonic clock alone does not
    suffice, since it stops while the machine sleeps.

    Args:
        own: This process' clock, in seconds since 1970.
        steady: A monotonic clock, in seconds.
    """

    def __init__(
        self, own: Callable[[], float] = time.time, steady: Callable[[], float] = time.monotonic
    ) -> None:
        self.own = own
        self._steady = steady
        self._behind = 0.0
        self._noted = own(), steady()

    def now(self) -> float:
        """Seconds since 1970."""
        then, since = self._noted
        return max(self.own(), then + self._steady() - since) + self._behind

    def note(self, reported: float, queried_at: float) -> None:
        """Record a time that the database reported, at some moment since it was queried.

        Args:
            reported: The database's time, in seconds since 1970.
            queried_at: The time by `own` when it was queried.
        """
        least, most = reported - self.own(), reported - queried_at
        near = least <= LEAST_DIFFERENCE and most >= -LEAST_DIFFERENCE
        self._behind = 0.0 if near else (least + most) / 2
        self._noted = self.own(), self._steady()
