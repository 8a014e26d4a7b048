"""The database's clock, as one process tells it: all replicas stamp what they store by it, however their own are set."""

from __future__ import annotations

import time
from collections.abc import Callable

LEAST_DIFFERENCE = 10.0
"""Seconds that a clock may differ and is still used as it is: an answer of the database may take long, and times shall not jump to and fro."""


class DatabaseClock:
    """Tells the time by this process' clock, corrected by what the database said last.

    A clock that is set back since then is not followed: what is stored would seem old. A steady one alone would not do, since
    it stands still while the machine sleeps.

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

    def note(self, told: float, asked: float) -> None:
        """Take in what the database said; it did so at some moment since it was asked.

        Args:
            told: Its time, in seconds since 1970.
            asked: What `own` said when it was asked.
        """
        least, most = told - self.own(), told - asked
        near = least <= LEAST_DIFFERENCE and most >= -LEAST_DIFFERENCE
        self._behind = 0.0 if near else (least + most) / 2
        self._noted = self.own(), self._steady()
