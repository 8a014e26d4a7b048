"""A circuit breaker: after several failures in a row nothing is tried for a while, then one try decides.

Pure but for the clock. An open breaker costs the caller nothing: the answer "it is down" comes at once.
"""

from __future__ import annotations

import time
from collections.abc import Callable

FAILURES = 3
"""Failures in a row that open the breaker."""

PAUSE_SECONDS = 2.0
"""How long it stays open before the first try is let through; each try that fails doubles the pause."""

LONGEST_PAUSE_SECONDS = 30.0
"""How far the pause grows."""


class Breaker:
    """The breaker of one remote agent.

    Args:
        failures: Failures in a row that open it.
        pause: Seconds before the first try is let through.
        clock: Seconds since any moment.
        longest: Seconds that the pause grows to while tries fail.
    """

    def __init__(
        self,
        failures: int = FAILURES,
        pause: float = PAUSE_SECONDS,
        clock: Callable[[], float] = time.monotonic,
        longest: float = LONGEST_PAUSE_SECONDS,
    ) -> None:
        self._most = failures
        self._first_pause = self._pause = pause
        self._longest = longest
        self._clock = clock
        self._failures = 0
        self._first_failure = 0.0
        self._opened: float | None = None
        self._probing = False

    @property
    def is_open(self) -> bool:
        """Whether calls are refused but for a try now and then."""
        return self._opened is not None

    @property
    def state(self) -> str:
        """closed, open, or half_open: open, while one try decides."""
        if self._opened is None:
            return "closed"
        return "half_open" if self._probing else "open"

    @property
    def down_seconds(self) -> float:
        """Seconds since the first of the failures in a row."""
        return self._clock() - self._first_failure if self._failures else 0.0

    @property
    def wait_seconds(self) -> float:
        """Seconds until the next try is let through."""
        if self._opened is None:
            return 0.0
        return max(0.0, self._opened + self._pause - self._clock())

    def admits(self) -> bool:
        """Whether a call may be made now; each one that is admitted must be told the end of."""
        if self._opened is None:
            return True
        if self._probing or self.wait_seconds > 0:
            return False
        self._probing = True
        return True

    def succeeded(self) -> None:
        """The other side answered, if only with an error of its own."""
        self._failures, self._opened, self._probing = 0, None, False
        self._pause = self._first_pause

    def failed(self) -> None:
        """The other side could not be reached or did not answer in time."""
        now = self._clock()
        if not self._failures:
            self._first_failure = now
        self._failures += 1
        if self._probing:
            self._pause = min(self._longest, 2 * self._pause)
        if self._probing or self._failures >= self._most:
            self._opened = now
        self._probing = False

    def gave_up(self) -> None:
        """The call was stopped before it had an end: it says nothing about the other side."""
        self._probing = False

    def try_now(self) -> None:
        """The other side was seen to be back: all calls are let through, until the first that fails."""
        if self._opened is not None:
            self._opened, self._probing = None, False
            self._failures, self._pause = self._most - 1, self._first_pause
