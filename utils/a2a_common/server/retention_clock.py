"""The clock that the age of conversations is measured by: whether it can be believed, so that one that jumped deletes nothing.

A clock that is set a month ahead makes every conversation a month old, and what is deleted does not come back; what is
kept for some days more does no harm.

- Where a database is shared, its clock measures for all replicas. A replica's own may be wrong: it measures nothing.
- A clock that ran further than the time that passed has jumped: since the last look, by a tenth of the days that a
  conversation is kept, or by `LONGEST_HOLD` where that is less.
- At a process' first look no time has passed that it knows of. There the newest conversation is the measure: a clock that
  is further past it than half of those days may have jumped while no process ran, or nobody may have been there.
- For the same tenth after such a jump nothing is deleted because of its age. It is logged and told by `/metrics`, and a
  clock that is set right meanwhile has deleted nothing. After that the clock is believed, and so it is at once where a
  process starts over conversations that were written by it.

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
"""Seconds: over a weekend somebody may see it."""

LEAST_JUMP = 10.0
"""Seconds that a clock may seem to have jumped by because an answer of the database took long."""

LEAST_ABSENCE = 3_600.0
"""Seconds past the newest conversation that say nothing about a clock, however short conversations are kept."""

_HOLDING = 10
_ABSENCE = 2


def passed() -> float:
    """Seconds that have passed since some moment, also while the machine slept, whatever its clock was set to."""
    asleep_too = getattr(time, "CLOCK_BOOTTIME", None)
    return time.monotonic() if asleep_too is None else time.clock_gettime(asleep_too)


@dataclass(frozen=True, slots=True)
class Look:
    """One look at a clock.

    Attributes:
        clock: What it said, in seconds since 1970.
        passed: What `passed` said then.
        until: The moment of `passed` from which on the clock is believed.
    """

    clock: float
    passed: float
    until: float

    @property
    def believed(self) -> bool:
        """Whether ages may be measured by it."""
        return self.passed >= self.until


def next_look(last: Look | None, clock: float, newest: float, now: float, kept: float) -> Look:
    """Judge the clock anew.

    Args:
        last: The look before; `None` for the first.
        clock: What it says, in seconds since 1970.
        newest: When the newest conversation changed, the same; 0 where there is none.
        now: What `passed` says.
        kept: Seconds that a conversation is kept.
    """
    hold = min(kept / _HOLDING, LONGEST_HOLD)
    if last is None:
        jumped = newest > 0 and clock - newest > max(kept / _ABSENCE, LEAST_ABSENCE)
        until = now
    else:
        jumped = abs((clock - last.clock) - (now - last.passed)) > max(hold, LEAST_JUMP)
        until = last.until
    return Look(clock, now, now + hold if jumped else until)


class RetentionClock:
    """Looks at the clock of a store, or at this process' where the store has none.

    Args:
        times: Asks the store.
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
        self._last: Look | None = None
        self._differed = False

    async def now(self) -> float | None:
        """The time, in seconds since 1970; `None` while it is not believed.

        Raises:
            StorageError: The store cannot be asked.
        """
        times, own = await self._times(), self._own()
        clock = own if times.now is None else times.now / 1e9
        self._compare(own, clock)
        last, newest = self._last, times.newest / 1e9
        self._last = look = next_look(last, clock, newest, self._passed(), self._kept)
        process_metrics().set(catalogue.RETENTION_HELD, float(not look.believed))
        if look.believed:
            return clock
        if last is None or last.until != look.until:
            seconds, ahead = round(look.until - look.passed), round(clock - newest)
            log.warning("retention.held", seconds=seconds, ahead_of_newest=ahead)
        return None

    def _compare(self, own: float, clock: float) -> None:
        """Say once that this process' clock is not the database's."""
        differs = abs(own - clock) > LEAST_JUMP
        if differs and not self._differed:
            log.warning("clock.differs", seconds=round(own - clock))
        self._differed = differs
