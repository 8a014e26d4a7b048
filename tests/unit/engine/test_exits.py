"""A turn that ends its process counts as one that did, however much of a stop in order the end of the event loop looks like."""

from __future__ import annotations

import asyncio
import sys

import pytest
from a2a.server.agent_execution import RequestContext
from a2a.server.events.event_queue import EventQueue

from tests.unit.engine.turns import CALL, Executor, House, status_of, task_of, turn
from utils.persistence.runs import MemoryRuns
from utils.persistence.task_log_memory import MemoryTaskLogStore


async def leaving(context: RequestContext, queue: EventQueue) -> None:
    """Ends the process out of the event loop itself, which nothing can contain."""
    if context.current_task is None:
        await queue.enqueue_event(task_of(context))
    await queue.enqueue_event(status_of(context, "working"))
    asyncio.get_running_loop().call_soon(sys.exit, 3)
    await asyncio.Event().wait()


class Processes:
    """Processes one after the other on one storage, each in an event loop of its own."""

    def __init__(self) -> None:
        self.store, self.runs = MemoryTaskLogStore(), MemoryRuns()
        self.state = ""

    def run(self, *, first: bool = False) -> None:
        """One process, from its start to its end: an agent's server is drained also where its event loop ends."""
        asyncio.run(self._process(first))

    async def _process(self, first: bool) -> None:
        house = House(Executor(leaving, resumable=True), self.store, self.runs)
        try:
            await house.engine.start()
            if first:
                await house.engine.submit(turn("a"), CALL)
            else:
                (self.state,) = await house.settled("a")
                return
            await asyncio.Event().wait()
        finally:
            await house.engine.drain(0)


def test_a_turn_that_ends_three_processes_is_not_tried_again() -> None:
    processes = Processes()
    for first in (True, False, False):
        with pytest.raises(SystemExit):
            processes.run(first=first)
    processes.run()
    assert processes.state == "failed"


class Stop(BaseException):
    """What a library raises to end more than a call."""


@pytest.mark.parametrize("raised", [SystemExit(3), KeyboardInterrupt(), Stop(), GeneratorExit()])
async def test_an_executor_that_raises_what_is_no_exception_ends_its_turn_alone(
    raised: BaseException,
) -> None:
    async def work(context: RequestContext, queue: EventQueue) -> None:
        await queue.enqueue_event(task_of(context))
        raise raised

    house = House(Executor(work))
    await house.submit(turn("a"))
    assert await house.settled("a") == ["failed"]
