"""A simulated process: tasks of one event loop that die together, or stand still together."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextvars import Context, ContextVar, copy_context
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakSet

if TYPE_CHECKING:
    from benchmarks.simulate.virtual_loop import Step

T = TypeVar("T")

PROCESS: ContextVar[Process | None] = ContextVar("simulated_process", default=None)
"""The process that a step belongs to: whatever it starts inherits it."""


class Process:
    """Some tasks, what holds them up, and when.

    A dead process runs no further step: its tasks are not cancelled, they are never called again. A stalled one keeps its
    steps until it goes on.

    Attributes:
        name: For the trace.
        tasks: Its tasks.
        dead: Whether it died.
        stalled: Whether it stands still.
        steps: How many steps it ran.
        fates: By the number of a step, what happens to the process before it.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.tasks: WeakSet[asyncio.Task[Any]] = WeakSet()
        self.dead = False
        self.stalled = False
        self.steps = 0
        self.fates: dict[int, Callable[[], None]] = {}
        self._held: list[Step] = []
        self._kept: list[asyncio.Task[Any]] = []
        self._context = copy_context()
        self._context.run(PROCESS.set, self)

    def spawn(self, work: Coroutine[Any, Any, T], name: str | None = None) -> asyncio.Task[T]:
        """Start a task of this process, in a context of its own."""
        return asyncio.get_running_loop().create_task(work, name=name, context=self.context())

    def context(self) -> Context:
        """A context for one request to this process."""
        return self._context.copy()

    def own(self, task: asyncio.Task[Any]) -> None:
        """A task of this process was created; a dead one keeps it, and never runs it."""
        self.tasks.add(task)
        if self.dead:
            self._kept.append(task)

    def takes(self, step: Step) -> bool:
        """Whether a step may run now; it is forgotten where the process is dead, and kept where it is stalled."""
        if not self.dead and not self.stalled:
            self.steps += 1
            fate = self.fates.pop(self.steps, None)
            if fate is not None:
                fate()
        if self.dead:
            return False
        if self.stalled:
            self._held.append(step)
            return False
        return True

    def die(self) -> None:
        """Never run a step again. Its open tasks are kept, since one that is collected would run its `finally`."""
        self._kept = [task for task in self.tasks if not task.done()]
        self.dead = True
        self._held.clear()

    def stall(self) -> None:
        """Run no step until `go_on`."""
        self.stalled = True

    def go_on(self) -> list[Step]:
        """Stand still no longer; the steps that were held up."""
        self.stalled = False
        held, self._held = self._held, []
        return held
