"""One schedule: a world made from a seed, run to its end, and what its invariants say."""

from __future__ import annotations

import gc
import logging
import os
import random
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import structlog

from benchmarks.simulate.invariants import violations
from benchmarks.simulate.log_world import LogWorld
from benchmarks.simulate.service_world import ServiceWorld
from benchmarks.simulate.setting import Setting


CPU_SECONDS = 10.0
"""Processor time after which a schedule is taken for one that spins; the longest takes a fraction of it."""


class Spins(BaseException):
    """A step of a schedule does not come to its end. No handler of ordinary errors may keep it."""


@dataclass(slots=True)
class Outcome:
    """What a schedule showed.

    Attributes:
        seed: What replays it.
        faults: What does not hold, in sentences.
        steps: How many steps ran.
        title: What kind of schedule it was.
        trace: What happened.
        dealt: How often each fault happened.
    """

    seed: int
    faults: list[str]
    steps: int
    title: str
    trace: list[str]
    dealt: dict[str, int] = field(default_factory=dict)


WORLDS: dict[str, Callable[[Setting], LogWorld | ServiceWorld]] = {"service": ServiceWorld, "log": LogWorld}


def run_schedule(seed: int) -> Outcome:
    """Run the schedule of a seed."""
    kinds = list(WORLDS)
    kind = kinds[seed % len(kinds)]
    setting = Setting(seed)
    with _determined(setting), _quiet(), _watched():
        try:
            setting.loop.run(WORLDS[kind](setting).run())
        except (Exception, Spins) as error:  # noqa: BLE001 - whatever it raises is what is looked for
            where = traceback.extract_tb(error.__traceback__)[-1]
            setting.facts.unhandled.append(f"{error!r} in {where.name}, {where.filename}:{where.lineno}")
        setting.facts.unhandled.extend(setting.loop.unhandled)
        found = violations(setting.facts)
        outcome = Outcome(
            seed,
            found,
            setting.loop.steps,
            f"{kind}, {setting.order} order, {setting.faults.weather}",
            setting.trace.lines,
            {**setting.faults.dealt, "processes lost": len(setting.facts.lost_processes)},
        )
        del setting
        gc.collect()
    return outcome


@contextmanager
def _determined(setting: Setting) -> Iterator[None]:
    """Clock and ids come from the schedule; nothing is collected while it runs."""
    real = os.urandom, time.time, time.monotonic
    state = random.getstate()
    random.seed(setting.seed)
    os.urandom = setting.lots.randbytes  # uuid4() reads it
    time.time, time.monotonic = setting.now, setting.loop.time
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        os.urandom, time.time, time.monotonic = real
        random.setstate(state)


@contextmanager
def _watched() -> Iterator[None]:
    """Break off a schedule that spins."""

    def spins(*_: object) -> None:
        raise Spins

    before = signal.signal(signal.SIGVTALRM, spins)
    signal.setitimer(signal.ITIMER_VIRTUAL, CPU_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


@contextmanager
def _quiet() -> Iterator[None]:
    """What dead processes leave behind is collected unheard, and nothing is logged."""
    hook = sys.unraisablehook
    config = structlog.get_config()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    sys.unraisablehook = lambda _: None
    try:
        yield
    finally:
        sys.unraisablehook = hook
        structlog.configure(**config)
