"""Rate limit for a remote agent's progress: no more than a person can read."""

from __future__ import annotations

import time
from collections.abc import Callable

from utils.a2a_common.client.heartbeat import Report
from utils.events import DelegationFinished, DelegationProgress, DelegationStarted

AT_ONCE = 100
"""Signs of progress that are passed up as fast as they come."""

PER_SECOND = 5.0
"""How many more are passed up each second. Each one is a row in the task store and an event for every reader."""


class ProgressGate:
    """Passes on what is reported of one delegation, and leaves out progress that comes faster than that.

    Args:
        report: Called with what passes.
        clock: Seconds since any moment.

    Attributes:
        left_out: How much progress was not passed on.
    """

    def __init__(self, report: Report, clock: Callable[[], float] = time.monotonic) -> None:
        self._report = report
        self._clock = clock
        self._room, self._then = float(AT_ONCE), clock()
        self.left_out = 0

    def __call__(self, event: DelegationStarted | DelegationProgress | DelegationFinished) -> None:
        """Report an event."""
        if isinstance(event, DelegationProgress) and not self._admits():
            self.left_out += 1
        else:
            self._report(event)

    def _admits(self) -> bool:
        now = self._clock()
        self._room = min(AT_ONCE, self._room + (now - self._then) * PER_SECOND)
        self._then = now
        if self._room < 1:
            return False
        self._room -= 1
        return True
