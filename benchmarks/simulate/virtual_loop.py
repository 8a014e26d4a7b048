"""Event loop with a virtual clock: time passes when nothing is ready, and a seed decides what runs next."""

from __future__ import annotations

import asyncio
import heapq
import random
import socket
import sys
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator
from concurrent.futures import Executor
from contextvars import Context, copy_context
from itertools import count
from typing import Any, Self, TypeVar, TypeVarTuple

from benchmarks.simulate.process import PROCESS, Process

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

STEP_SECONDS = 1e-5
"""Seconds that a step takes, so that a loop which never waits meets its deadline too."""


class Deadlock(Exception):
    """Nothing is ready, no timer runs, and the main coroutine is not done."""


class TooManySteps(Exception):
    """The schedule does not come to its end: something runs without waiting."""


class Step(asyncio.Handle):
    """One callback of the loop, with the process that it belongs to."""

    __slots__ = ("arguments", "callback", "context", "process")

    def __init__(
        self, callback: Callable[..., object], arguments: tuple[Any, ...], loop: VirtualLoop, context: Context
    ) -> None:
        super().__init__(callback, arguments, loop, context)
        self.callback, self.arguments, self.context = callback, arguments, context
        self.process: Process | None = context.get(PROCESS)

    def run(self) -> None:
        """Call it in its context."""
        self.context.run(self.callback, *self.arguments)
        del self  # the frame lives on in the traceback of a task's error, which would keep the task


class Timer(asyncio.TimerHandle):
    """A step that becomes ready at a time."""

    __slots__ = ("step",)

    def __init__(self, when: float, step: Step, loop: VirtualLoop) -> None:
        super().__init__(when, step.callback, step.arguments, loop, step.context)
        self.step = step

    def cancel(self) -> None:
        """Never call it, also where its time has come and it is only waiting for its turn."""
        self.step.cancel()
        super().cancel()


class NumberedTask(asyncio.Task[Any]):
    """A task whose place in a set is the same in every run: libraries iterate over sets of tasks."""

    _number: int

    def __new__(cls, *_args: Any, loop: VirtualLoop, **_options: Any) -> Self:
        """A task with the loop's next number, which asyncio asks for before `__init__` is done."""
        task = super().__new__(cls)
        task._number = next(loop.task_numbers)
        return task

    def __hash__(self) -> int:
        """The number."""
        return self._number


class VirtualLoop(asyncio.AbstractEventLoop):
    """Runs one schedule.

    With `order` "fifo" ready steps run as asyncio runs them, with "random" in an order that `seed` decides. Threads do
    not exist: what would run in one runs at once.

    Attributes:
        task_numbers: Numbers of its tasks.
        unhandled: What asyncio reports of errors that nobody handled.
        steps: Number of steps that ran.
    """

    def __init__(self, seed: int, *, order: str = "random", most_steps: int = 400_000) -> None:
        self._lots = random.Random(seed)
        self._fifo = order == "fifo"
        self._most_steps = most_steps
        self._now = 0.0
        self._ready: list[Step] = []
        self._timers: list[tuple[float, int, Timer]] = []
        self._numbers = count()
        self._closed = False
        self._kept: list[object] = []
        self.current: Process | None = None
        self.steps = 0
        self.task_numbers = count()
        self.unhandled: list[str] = []

    @classmethod
    def of(cls, seed: int, **options: Any) -> VirtualLoop:
        """Make one. What it leaves out of the interface (sockets, processes, signals) does not exist in a schedule."""
        kind: Any = cls
        loop: VirtualLoop = kind(seed, **options)
        return loop

    # what the product and asyncio call

    def time(self) -> float:
        """Virtual seconds since the schedule began."""
        return self._now

    def call_soon(
        self, callback: Callable[[*Ts], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.Handle:
        """Make a step ready."""
        step = Step(callback, args, self, context if context is not None else copy_context())
        self._ready.append(step)
        return step

    def call_soon_threadsafe(
        self, callback: Callable[[*Ts], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.Handle:
        """The same: there are no threads."""
        return self.call_soon(callback, *args, context=context)

    def call_later(
        self, delay: float, callback: Callable[[*Ts], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.TimerHandle:
        """Make a step ready after `delay` seconds."""
        return self.call_at(self._now + delay, callback, *args, context=context)

    def call_at(
        self, when: float, callback: Callable[[*Ts], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.TimerHandle:
        """Make a step ready at `when`."""
        step = Step(callback, args, self, context if context is not None else copy_context())
        timer = Timer(when, step, self)
        heapq.heappush(self._timers, (when, next(self._numbers), timer))
        return timer

    def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:
        """A canceled timer is dropped when its time comes."""

    def create_future(self) -> asyncio.Future[Any]:
        """A future of this loop."""
        return asyncio.Future(loop=self)

    def create_task(
        self,
        coro: Generator[Any, None, T] | Coroutine[Any, Any, T],
        *,
        name: str | None = None,
        context: Context | None = None,
    ) -> asyncio.Task[T]:
        """A task of this loop, known to its process."""
        task = NumberedTask(coro, loop=self, name=name, context=context)
        process = (context or copy_context()).get(PROCESS)
        if process is not None:
            process.own(task)
        return task

    def run_in_executor(  # type: ignore[override]
        self, executor: Executor | None, func: Callable[..., T], *args: Any
    ) -> asyncio.Future[T]:
        """Run it at once: there are no threads."""
        del executor
        future: asyncio.Future[T] = self.create_future()
        try:
            future.set_result(func(*args))
        except Exception as error:  # noqa: BLE001 - it is the caller's
            future.set_exception(error)
        return future

    async def getaddrinfo(  # type: ignore[override]
        self, host: str, port: int, **_options: Any
    ) -> list[tuple[int, int, int, str, tuple[str, int]]]:
        """Hosts are given by their addresses: nobody is asked."""
        return [(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", (host, port))]

    def get_debug(self) -> bool:
        """Never: asyncio's debug mode reads the real clock."""
        return False

    def is_running(self) -> bool:
        """Whether a schedule is under way."""
        return not self._closed

    def is_closed(self) -> bool:
        """Whether the schedule is over."""
        return self._closed

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        """Remember what nobody handled."""
        if not self._closed:
            about = context.get("exception") or context.get("task")
            self.unhandled.append(f"{context.get('message')}: {about!r}")

    # the schedule

    def run(self, main: Coroutine[Any, Any, T]) -> T:
        """Run `main` to its end.

        Raises:
            Deadlock: It waits for nothing that could come.
            TooManySteps: Something runs without end.
        """
        asyncio._set_running_loop(self)  # noqa: SLF001 - exported for implementers of event loops
        hooks = sys.get_asyncgen_hooks()
        sys.set_asyncgen_hooks(finalizer=self._close_generator)
        try:
            task = self.create_task(main, name="main")
            while not task.done():
                self._one_step()
            return task.result()
        finally:
            self._closed = True
            sys.set_asyncgen_hooks(*hooks)
            asyncio._set_running_loop(None)  # noqa: SLF001 - as above

    def release(self, steps: list[Step]) -> None:
        """Make the steps of a stalled process ready again."""
        self._ready.extend(steps)

    def _one_step(self) -> None:
        step = self._next()
        process = step.process
        if process is not None and not process.takes(step):
            return
        self.steps += 1
        self._now += STEP_SECONDS
        if self.steps > self._most_steps:
            raise TooManySteps
        self.current = process
        try:
            step.run()
        except Exception as error:  # noqa: BLE001 - as asyncio does
            self.call_exception_handler({"message": "callback", "exception": error})
        finally:
            del step  # as in `Step.run`

    def _next(self) -> Step:
        while True:
            while self._timers and (self._timers[0][0] <= self._now or not self._ready):
                when, _, timer = heapq.heappop(self._timers)
                if not timer.cancelled():
                    self._now = max(self._now, when)
                    self._ready.append(timer.step)
            if not self._ready:
                raise Deadlock
            position = 0 if self._fifo else self._lots.randrange(len(self._ready))
            step = self._ready.pop(position)
            if not step.cancelled():
                return step

    def _close_generator(self, generator: AsyncGenerator[Any, None]) -> None:
        """Close a generator that nobody reads any more, unless its process is dead."""
        if self._closed or (self.current is not None and self.current.dead):
            self._kept.append(generator)
        else:
            self.create_task(_closing(generator))


async def _closing(generator: AsyncGenerator[Any, None]) -> None:
    await generator.aclose()
