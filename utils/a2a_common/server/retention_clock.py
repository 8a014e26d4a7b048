"""The clock for the age of conversations, and whether it can be trusted, so that a clock that jumped deletes nothing.

A clock that is set a month ahead makes every conversation a month old, and what is deleted does not come back; what is
kept for some days more does no harm.

- With a shared database, its clock is used by all replicas. A replica's own clock may be wrong and is not used.
- A clock that ran further than the time that passed has jumped: since the last look, by a tenth of the days that a
  conversation is kept, or by `LONGEST_HOLD` where that is less.
- At a process' first look no time has passed that it knows of. There the newest conversation is the measure: a clock that
  is further past it than half of those days may have jumped while no process ran, or the agent may just not have been used.
- For the same tenth after such a jump nothing is deleted because of its age. It is logged and reported by `/metrics`, and if
  the clock is corrected meanwhile, nothing was deleted. After that the clock is trusted, and so it is at once where a
  process starts with conversations that were written by it.

What is stored is stamped by the same clock (`TaskLogStore.now`), so that a replica whose own is wrong makes no conversation older.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import structlog

from utils.observability import catalogue
from utils.observability.metrics import process_metrics
from utils.persistence.task_log_store import StoredTimes

log = structlog.get_logger(__name__)

DAY = 86_400.0

LONGEST_HOLD = 3 * DAY
"""In seconds: long enough for an operator to notice after a weekend."""

LEAST_JUMP = 10.0
"""Seconds that a clock may seem to have jumped by because an answer of the database took long."""

LEAST_ABSENCE = 3_600.0
"""Seconds past the newest conversation that are no sign of a wrong clock, however short conversations are kept."""

_HOLDING = 10
_ABSENCE = 2


def passed() -> float:
    """Seconds that have passed since some moment, also while the machine slept, whatever its clock was set to."""
    asleep_too = getattr(time, "CLOCK_BOOTTIME", None)
    return time.monotonic() if asleep_too is None else time.clock_gettime(asleep_too)


@dataclass(frozen=True, slots=True)
class ClockReading:
    """One reading of a clock.

    Attributes:
        clock: The time of the clock, in seconds since 1970.
        passed: The reading of `passed` at that moment.
        until: The reading of `passed` from which on the clock is trusted.
    """

    clock: float
    passed: float
    until: float

    @property
    def believed(self) -> bool:
        """Whether ages may be measured by it."""
        return self.passed >= self.until


def next_reading(
    last: ClockReading | None, clock: float, newest: float, now: float, kept: float
) -> ClockReading:
    """Check the clock at a further reading.

    Args:
        last: The reading before; `None` for the first.
        clock: The time of the clock, in seconds since 1970.
        newest: When the newest conversation changed, in seconds since 1970; 0 if there is none.
        now: The reading of `passed`.
        kept: Seconds that a conversation is kept.
    """
    hold = min(kept / _HOLDING, LONGEST_HOLD)
    if last is None:
        jumped = newest > 0 and clock - newest > max(kept / _ABSENCE, LEAST_ABSENCE)
        until = now
    else:
        jumped = abs((clock - last.clock) - (now - last.passed)) > max(hold, LEAST_JUMP)
        until = last.until
    return ClockReading(clock, now, now + hold if jumped else until)


class RetentionClock:
    """Looks at the clock of a store, or at this process' where the store has none.

    Args:
        times: Reads the store's clock.
        kept: Seconds that a conversation is kept.
        own: This process' clock, in seconds since 1970.
        passed: Seconds that have passed since some moment.
    """

    def __init__(
        self,
        times: Callable[[], Awaitable[StoredTimes]],
        kept: float,
        *,
        own: Callable[[], float] = time.time,
        passed: Callable[[], float] = passed,
    ) -> None:
        self._times = times
        self._kept = kept
        self._own = own
        self._passed = passed
        self._last: ClockReading | None = None
        self._differed = False

    async def now(self) -> float | None:
        """The time, in seconds since 1970; `None` while it is not trusted.

        Raises:
            StorageError: The store cannot be asked.
        """
        times, own = await self._times(), self._own()
        clock = own if times.now is None else times.now / 1e9
        self._compare(own, clock)
        last, newest = self._last, times.newest / 1e9
        self._last = reading = next_reading(last, clock, newest, self._passed(), self._kept)
        process_metrics().set(catalogue.RETENTION_HELD, float(not reading.believed))
        if reading.believed:
            return clock
        if last is None or last.until != reading.until:
            seconds, ahead = round(reading.until - reading.passed), round(clock - newest)
            log.warning("retention.held", seconds=seconds, ahead_of_newest=ahead)
        return None

    def _compare(self, own: float, clock: float) -> None:
        """Log once that this process' clock differs from the database's."""
        differs = abs(own - clock) > LEAST_JUMP
        if differs and not self._differed:
            log.warning("clock.differs", seconds=round(own - clock))
        self._differed = differs
