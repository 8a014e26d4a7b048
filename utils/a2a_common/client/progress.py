"""Progress of a remote agent, as its caller is told of it: no more than a person can read, and a sign of life in silence."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

from utils.events import DelegationFinished, DelegationProgress, DelegationStarted

Report = Callable[[DelegationStarted | DelegationProgress | DelegationFinished], None]

AT_ONCE = 100
"""Signs of progress that are passed up as fast as they come."""

PER_SECOND = 5.0
"""How many more are passed up each second. Each one is a row in the task store and an event for every reader."""


@asynccontextmanager
async def heartbeat(
    report: Report, waited: Callable[[float], DelegationProgress], every: float
) -> AsyncIterator[Report]:
    """Yield a `report` that speaks up by itself whenever nothing was reported for `every` seconds.

    Args:
        report: Called with everything.
        waited: Makes the event for the seconds since the beginning.
        every: Seconds of silence.
    """
    began = last = time.monotonic()

    def noted(event: DelegationStarted | DelegationProgress | DelegationFinished) -> None:
        nonlocal last
        last = time.monotonic()
        report(event)

    async def speak() -> None:
        while True:
            if (left := last + every - time.monotonic()) > 0:
                await asyncio.sleep(left)
            else:
                noted(waited(time.monotonic() - began))

    speaking = asyncio.create_task(speak())
    try:
        yield noted
    finally:
        speaking.cancel()
        with suppress(asyncio.CancelledError):
            await speaking


class ProgressGate:
    """Passes on what is reported of one delegation, and leaves out progress that comes faster than a person can read.

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
