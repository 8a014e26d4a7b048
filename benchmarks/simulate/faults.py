"""Faults of a store: it is slow, it fails, it is locked for a while, or it did the work and its answer is lost."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum

from benchmarks.simulate.trace import Trace


class Outcome(Enum):
    """What a caller hears of an operation."""

    ANSWERED = "answered"
    FAILED = "failed"
    LOST = "answer lost"


@dataclass(frozen=True, slots=True)
class Fault:
    """How one operation goes: seconds before it is done, what the caller hears, seconds until it hears it."""

    before: float
    outcome: Outcome
    after: float


@dataclass(frozen=True, slots=True)
class Weather:
    """How often what goes wrong in a schedule.

    Attributes:
        failing: Share of operations that fail before anything is done.
        losing: Share of operations that are done, and whose caller gets an error.
        slow: Share of operations that take long.
        longest: Seconds of the slowest one.
        locked: Times during which every operation waits, or fails (`locks_fail`).
        locks_fail: Whether operations fail, and do not wait, while the store is locked.
    """

    failing: float = 0.0
    losing: float = 0.0
    slow: float = 0.1
    longest: float = 1.0
    locked: tuple[tuple[float, float], ...] = ()
    locks_fail: bool = False


CALM = Weather(slow=0.0)


def weather(lots: random.Random, until: float) -> Weather:
    """A weather by lot: calm, slow, failing, locked for some time, or all of it."""
    kind = lots.choice(("calm", "slow", "failing", "locked", "all"))
    rough = kind in {"failing", "all"}
    locked = tuple(
        (start, start + lots.choice((0.5, 3.0, 25.0)))
        for start in (lots.uniform(0, until) for _ in range(lots.randint(1, 2)))
        if kind in {"locked", "all"}
    )
    return Weather(
        failing=lots.choice((0.01, 0.05, 0.2)) if rough else 0.0,
        losing=lots.choice((0.0, 0.02, 0.1)) if rough else 0.0,
        slow=0.0 if kind == "calm" else lots.choice((0.02, 0.2)),
        longest=lots.choice((0.05, 1.0, 8.0)),
        locked=locked,
        locks_fail=lots.random() < 0.5,
    )


@dataclass(slots=True)
class Faults:
    """Deals the faults of all stores of a schedule, until they `stop`."""

    weather: Weather
    lots: random.Random
    clock: Callable[[], float]
    trace: Trace
    unstored: set[str] = field(default_factory=set)
    on: bool = True
    dealt: dict[str, int] = field(default_factory=dict)

    def deal(self, who: str, operation: str) -> Fault:
        """How the next operation goes."""
        lots, today = self.lots, self.weather if self.on else CALM
        before, after = lots.choice((0.0, 0.0001, 0.001, 0.005)), lots.choice((0.0, 0.0001, 0.001))
        if lots.random() < today.slow:
            before += lots.uniform(0.0, today.longest)
        if lots.random() < today.slow:
            after += lots.uniform(0.0, today.longest)
        outcome, draw = Outcome.ANSWERED, lots.random()
        if draw < today.failing:
            outcome = Outcome.FAILED
        elif draw < today.failing + today.losing:
            outcome = Outcome.LOST
        for start, end in today.locked:
            if start <= self.clock() < end:
                if today.locks_fail:
                    outcome = Outcome.FAILED
                else:
                    before += end - self.clock()
        if outcome is not Outcome.ANSWERED:
            self.unstored.add(who)
        self._count(outcome.value if outcome is not Outcome.ANSWERED else "slow" if before > 0.01 else "")
        if outcome is not Outcome.ANSWERED or before > 0.01 or after > 0.01:
            self.trace.note(who, f"store: {operation} {outcome.value} (+{before:.3f} s, +{after:.3f} s)")
        return Fault(before, outcome, after)

    def stop(self) -> None:
        """From now, everything works."""
        self.on = False

    def _count(self, kind: str) -> None:
        if kind:
            self.dealt[kind] = self.dealt.get(kind, 0) + 1
