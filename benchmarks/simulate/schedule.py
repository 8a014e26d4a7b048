"""One schedule: a world made from a seed, run to its end, and what its invariants say."""

from __future__ import annotations

import gc
import logging
import os
import random
import signal
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import ParamSpec, TypeVar

import structlog

from benchmarks.simulate.house_world import HouseWorld
from benchmarks.simulate.invariants import violations
from benchmarks.simulate.log_world import LogWorld
from benchmarks.simulate.replicas_world import ReplicasWorld
from benchmarks.simulate.service_world import ServiceWorld
from benchmarks.simulate.setting import Setting

P = ParamSpec("P")
T = TypeVar("T")

_COLLECTIONS = 8
"""A bound; three are enough as a rule."""

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


WORLDS: dict[str, Callable[[Setting], LogWorld | ServiceWorld]] = {
    "service": ServiceWorld,
    "log": LogWorld,
    "house": HouseWorld,
    "replicas": ReplicasWorld,
}


def kind_of(seed: int) -> str:
    """Which world a schedule is of: even seeds of the service, every fiftieth of the house, which takes longest."""
    if seed % 2 == 0:
        return "service"
    return "house" if seed % 50 == 3 else "log"


def run_schedule(seed: int, engines: int = 1) -> Outcome:
    """Run the schedule of a seed; with two engines, one of replicas of the service."""
    kind = "replicas" if engines > 1 else kind_of(seed)
    with _quiet(), _collected(through_all=kind == "house"):
        return _run(seed, kind)


def _run(seed: int, kind: str) -> Outcome:
    setting = Setting(seed, in_order=kind == "house")  # LangGraph streams by calls that must stay in order
    with _determined(setting), _watched():
        try:
            setting.loop.run(WORLDS[kind](setting).run())
        except (Exception, Spins) as error:  # noqa: BLE001 - whatever it raises is what is looked for
            where = traceback.extract_tb(error.__traceback__)[-1]
            setting.facts.unhandled.append(f"{error!r} in {where.name}, {where.filename}:{where.lineno}")
    setting.facts.unhandled.extend(setting.loop.unhandled)
    return Outcome(
        seed,
        violations(setting.facts),
        setting.loop.steps,
        f"{kind}, {setting.order} order, {setting.faults.weather}",
        setting.trace.lines,
        {**setting.faults.dealt, "processes lost": len(setting.facts.lost_processes)},
    )


@contextmanager
def _determined(setting: Setting) -> Iterator[None]:
    """Clock and ids come from the schedule, in its thread.

    The loops of other threads keep the machine's clock: one that took the virtual time for its own would wait for the
    difference, which is hours.
    """
    real = os.urandom, time.time, time.monotonic
    state = random.getstate()
    random.seed(setting.seed)
    os.urandom = _here(setting.lots.randbytes, os.urandom)  # uuid4() reads it
    time.time, time.monotonic = _here(setting.now, time.time), _here(setting.loop.time, time.monotonic)
    try:
        yield
    finally:
        os.urandom, time.time, time.monotonic = real
        random.setstate(state)


def _here(virtual: Callable[P, T], real: Callable[P, T]) -> Callable[P, T]:
    """What is `virtual` in this thread and `real` in every other."""
    own = threading.get_ident()

    def either(*args: P.args, **kwargs: P.kwargs) -> T:
        return (virtual if threading.get_ident() == own else real)(*args, **kwargs)

    return either


@contextmanager
def _collected(*, through_all: bool) -> Iterator[None]:
    """Nothing is collected while a schedule runs, and all that it leaves right after it.

    Args:
        through_all: Whether what was there before is looked through as well: LangChain's objects are held by it.
    """
    gc.freeze()  # what was there before need not be looked through
    gc.disable()
    try:
        yield
    finally:
        if through_all:
            gc.unfreeze()
        for _ in range(
            _COLLECTIONS
        ):  # coroutines of dead processes run their `finally` then, which leaves more
            if gc.collect() == 0:
                break
        gc.enable()
        gc.unfreeze()


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
    hook, config, level = sys.unraisablehook, structlog.get_config(), logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    sys.unraisablehook = lambda _: None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of coroutines that are never awaited
            yield
    finally:
        sys.unraisablehook = hook
        structlog.configure(**config)
        logging.disable(level)
