"""What the worlds of a schedule share: the seed's lots, clock, faults, and processes that come and go."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from contextvars import Context
from functools import partial

from benchmarks.simulate.facts import Facts
from benchmarks.simulate.faults import Faults, weather
from benchmarks.simulate.process import Process
from benchmarks.simulate.trace import Trace
from benchmarks.simulate.virtual_loop import VirtualLoop

EPOCH = 1_800_000_000.0
"""Wall clock at the beginning of a schedule."""

FAULTY_SECONDS = 20.0
"""Time in which faults happen; after it everything works, and everything must end."""

PATIENCE = 3_000.0
"""Virtual seconds in which a schedule must end."""

MOST_FATES = 3
STEPS_BEFORE_FATE = 1_500


class Setting:
    """One schedule's lots, clock, faults and processes.

    Attributes:
        lots: The seed's random numbers.
        loop: The event loop.
        trace: What happened, for the report.
        faults: Faults of the stores.
        facts: What the invariants are about.
        processes: All that were started, dead ones too.
        order: "random", or "fifo" as asyncio runs what is ready: `in_order` for code that counts on it.
        stalls: Whether a process may stall, and go on after another has taken its place.
    """

    def __init__(self, seed: int, *, faulty: bool = True, in_order: bool = False) -> None:
        self.seed = seed
        self.lots = random.Random(seed)
        drawn = self.lots.choice(("fifo", "random"))
        self.order = "fifo" if in_order else drawn
        self.loop = VirtualLoop.of(seed, order=self.order)
        self.trace = Trace(self.loop.time)
        self.facts = Facts()
        self.processes: list[Process] = []
        self.stalls = True
        today = weather(self.lots, FAULTY_SECONDS)
        self.faults = Faults(today, self.lots, self.loop.time, self.trace, self.facts.unstored, on=faulty)
        self._fates = self.lots.randint(0, MOST_FATES) if faulty else 0

    def now(self) -> float:
        """Wall clock, in seconds since 1970."""
        return EPOCH + self.loop.time()

    def process(self, kind: str, lost: Callable[[Process], None]) -> Process:
        """Start a process, with its fate. `lost` is called when it dies or stalls."""
        process = Process(f"{kind}{len(self.processes) + 1}")
        self.processes.append(process)
        self.trace.note(process.name, "starts")
        if self._fates > 0 and self.faults.on:
            self._fates -= 1
            process.fates[self._step()] = self._fate(process, lost)
        return process

    def later(self, seconds: float, what: Callable[[], None]) -> None:
        """Do something from outside of all processes."""
        self.loop.call_later(seconds, what, context=Context())

    def _step(self) -> int:
        """A number of steps by lot: most faults of interest are near the beginning."""
        return self.lots.randint(1, self.lots.choice((30, 200, STEPS_BEFORE_FATE)))

    def _fate(self, process: Process, lost: Callable[[Process], None]) -> Callable[[], None]:
        dies = self.lots.random() < 0.6 or not self.stalls
        pause = self.lots.choice((0.01, 0.5, 5.0, 40.0))

        def happen() -> None:
            if not self.faults.on:
                return
            self.facts.lost_processes.add(process.name)
            if dies:
                self.trace.note(process.name, "dies")
                process.die()
            else:
                self.trace.note(process.name, f"stalls for {pause} s")
                process.stall()
                self.facts.spared.add(process.name)
                self.later(pause, partial(self._go_on, process))
            lost(process)

        return happen

    def _go_on(self, process: Process) -> None:
        if not process.dead:
            self.trace.note(process.name, "goes on")
            self.loop.release(process.go_on())

    async def finish(self, work: list[asyncio.Task[None]]) -> None:
        """Wait for everybody: the faults stop on the way, and who is not done long after waits for ever."""
        calm = asyncio.create_task(self.calm())
        _, late = await asyncio.wait([calm, *work], timeout=PATIENCE)
        self.facts.unhandled += [f"{task.get_name()} waits for ever" for task in work if task in late]
        for task in work:
            if task.done():
                task.result()

    async def calm(self) -> None:
        """Wait for the end of the faults."""
        await asyncio.sleep(max(0.0, FAULTY_SECONDS - self.loop.time()))
        self.trace.note("world", "faults stop")
        self.faults.stop()
