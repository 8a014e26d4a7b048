"""Circuit breaker: opens after several consecutive failures, and closes when a later probe call succeeds.

Pure but for the clock. While it is open, calls fail at once instead of waiting for a timeout.
"""

from __future__ import annotations

import time
from collections.abc import Callable

FAILURES = 3
"""Consecutive failures that open the breaker."""

PAUSE_SECONDS = 2.0
"""Seconds that it stays open before the first probe; each failed probe doubles the pause."""

LONGEST_PAUSE_SECONDS = 30.0
"""Largest pause in seconds."""


class Breaker:
    """The breaker of one remote agent.

    Args:
        failures: Consecutive failures that open it.
        pause: Seconds before the first probe.
        clock: A monotonic clock, in seconds.
        longest: Largest pause in seconds.
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
        """Whether calls are refused, except for probes."""
        return self._opened is not None

    @property
    def state(self) -> str:
        """`closed`, `open`, or `half_open` while a probe is running."""
        if self._opened is None:
            return "closed"
        return "half_open" if self._probing else "open"

    @property
    def down_seconds(self) -> float:
        """Seconds since the first of the consecutive failures."""
        return self._clock() - self._first_failure if self._failures else 0.0

    @property
    def wait_seconds(self) -> float:
        """Seconds until the next probe is admitted."""
        if self._opened is None:
            return 0.0
        return max(0.0, self._opened + self._pause - self._clock())

    def admits(self) -> bool:
        """Whether a call may be made now. Report the outcome of each admitted call: succeeded, failed or gave_up."""
        if self._opened is None:
            return True
        if self._probing or self.wait_seconds > 0:
            return False
        self._probing = True
        return True

    def succeeded(self) -> None:
        """The remote side answered, be it with an error."""
        self._failures, self._opened, self._probing = 0, None, False
        self._pause = self._first_pause

    def failed(self) -> None:
        """The remote side could not be reached or did not answer in time."""
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
        """The call was cancelled before it ended, which says nothing about the remote side."""
        self._probing = False

    def try_now(self) -> None:
        """The remote side was seen to be up again: admit all calls, and open again at the first failure."""
        if self._opened is not None:
            self._opened, self._probing = None, False
            self._failures, self._pause = self._most - 1, self._first_pause
