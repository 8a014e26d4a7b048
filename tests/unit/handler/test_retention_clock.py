"""When the clock that ages are measured by is believed."""

from __future__ import annotations

import pytest

from utils.a2a_common.server.retention_clock import DAY, ClockReading, RetentionClock, next_reading
from utils.persistence.task_log_store import StoredTimes

KEPT = 30 * DAY
NOW = 1_800_000_000.0


class World:
    """A clock, the time that passes, and what is stored; `shared` is the clock of the store."""

    def __init__(self, newest: float = NOW, shared: float | None = None) -> None:
        self.own, self.passed, self.newest, self.shared = NOW, 0.0, newest, shared
        self.clock = RetentionClock(self._times, KEPT, own=lambda: self.own, passed=lambda: self.passed)

    def go_on(self, seconds: float) -> None:
        self.own += seconds
        self.passed += seconds

    async def _times(self) -> StoredTimes:
        shared = None if self.shared is None else round((self.shared + self.passed) * 1e9)
        return StoredTimes(round(self.newest * 1e9), shared)


async def test_a_clock_that_jumps_while_the_process_runs_is_not_believed_for_three_days_whatever_is_written() -> (
    None
):
    world = World()
    assert await world.clock.now() == NOW
    world.own += 31 * DAY
    world.newest = world.own
    assert await world.clock.now() is None
    world.go_on(2.9 * DAY)
    assert await world.clock.now() is None
    world.go_on(0.2 * DAY)
    assert await world.clock.now() == world.own


async def test_a_clock_that_is_set_right_again_begins_the_wait_anew() -> None:
    world = World()
    await world.clock.now()
    world.own += 31 * DAY
    assert await world.clock.now() is None
    world.go_on(2 * DAY)
    world.own -= 31 * DAY
    assert await world.clock.now() is None
    world.go_on(3.1 * DAY)
    assert await world.clock.now() == pytest.approx(NOW + 5.1 * DAY)


async def test_a_process_that_runs_on_without_new_conversations_believes_its_clock() -> None:
    world = World()
    for _ in range(40):
        assert await world.clock.now() == world.own
        world.go_on(DAY)


async def test_a_process_that_starts_long_after_the_newest_conversation_waits_first() -> None:
    world = World(newest=NOW - 16 * DAY)
    assert await world.clock.now() is None
    world.go_on(3.1 * DAY)
    assert await world.clock.now() == world.own
    assert await World(newest=NOW - 14 * DAY).clock.now() == NOW
    assert await World(newest=0).clock.now() == NOW


async def test_the_clock_of_a_shared_database_measures() -> None:
    world = World(shared=NOW - 31 * DAY, newest=NOW - 31 * DAY)
    assert await world.clock.now() == NOW - 31 * DAY
    world.own += 31 * DAY
    assert await world.clock.now() == NOW - 31 * DAY


def test_conversations_that_are_kept_for_a_moment_are_not_held_for_an_answer_that_took_long() -> None:
    first = next_reading(None, NOW, NOW - 1_800, 0.0, kept=1.0)
    assert first.believed
    assert next_reading(first, NOW + 9, NOW, 1.0, kept=1.0).believed
    assert not next_reading(ClockReading(NOW, 0.0, 0.0), NOW + 12, NOW, 1.0, kept=1.0).believed
