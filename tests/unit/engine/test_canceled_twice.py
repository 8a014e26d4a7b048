"""A replica's turn is ended once, however often its job is canceled: first by its user, then by a worker that ends."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import AsyncIterator

import pytest
from a2a.server.agent_execution import RequestContext
from a2a.server.events.event_queue import EventQueue
from a2a.types.a2a_pb2 import TaskState

from tests.contract.queue.kinds import TablesOf, memory_tables
from tests.unit.engine.turns import OWNER, Executor, turn
from utils.a2a_common.engine.distributed import DistributedEngine
from utils.a2a_common.engine.job import Job
from utils.a2a_common.engine.procrastinate_queue import ProcrastinateQueue
from utils.a2a_common.engine.turn_queue import QueuedTurn, Requeued
from utils.a2a_common.engine.turn_runner import TurnRunner
from utils.a2a_common.tasks.log import TaskLog
from utils.persistence.runs import MemoryRuns
from utils.persistence.task_log_memory import MemoryTaskLogStore
from utils.persistence.task_log_store import Stored

TURNS = range(16)
"""Turns of the event loop within which a turn has ended that nothing holds up."""


class SlowExecutor(Executor):
    """Takes its time to cancel a task, and to stop.

    Attributes:
        ends: Set when it was told to.
        may_end: Lets it.
    """

    def __init__(self) -> None:
        super().__init__(resumable=True)
        self.gate.clear()
        self.ends, self.may_end = asyncio.Event(), asyncio.Event()

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        try:
            await super().execute(context, event_queue)
        finally:
            await self._end()

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        await super().cancel(context, event_queue)
        await self._end()

    async def _end(self) -> None:
        self.ends.set()
        await self.may_end.wait()


class SlowStore(MemoryTaskLogStore):
    """A storage that is asked to open a task, and takes its time once `slow` is set."""

    slow: asyncio.Event | None = None
    asked: asyncio.Event

    async def claim(self, task_id: str, owner: str) -> Stored:
        if self.slow is not None:
            self.asked.set()
            await self.slow.wait()
        return await super().claim(task_id, owner)


class Replica:
    """An engine whose jobs the test runs by hand."""

    def __init__(self, tables: TablesOf) -> None:
        self.store = SlowStore()
        self.store.asked = asyncio.Event()
        self.log, self.runs, self.executor = TaskLog(self.store), MemoryRuns(), SlowExecutor()
        queue = ProcrastinateQueue(tables(), at_once=2, takeover_seconds=10)
        runner = TurnRunner(self.executor, self.log)
        self.engine = DistributedEngine(self.log, self.runs, runner, queue, max_turns=2, max_waiting=2)
        self.aborted = False

    def work(self) -> asyncio.Task[None]:
        """Run the job of the turn, as a worker does."""
        return asyncio.create_task(self.engine._work(QueuedTurn(1, "a", False, True, lambda: self.aborted)))

    async def accept(self) -> None:
        job = Job(turn("a"), None, contextvars.copy_context())
        writer = await self.engine._store(job)
        assert writer is not None
        await self.engine._runner.accept(job.turn, writer)
        writer.hand_over()

    async def is_canceled(self) -> bool:
        head = await self.log.head("a", OWNER)
        return head is not None and head.status.state == TaskState.TASK_STATE_CANCELED


@pytest.fixture
async def replica() -> AsyncIterator[Replica]:
    async with memory_tables() as tables:
        made = Replica(tables)
        await made.log.open()
        await made.accept()
        yield made
        made.executor.may_end.set()
        await made.log.close()


async def cancel_again(working: asyncio.Task[None], steps: int) -> None:
    for _ in range(steps):
        await asyncio.sleep(0)
    working.cancel()
    for _ in TURNS:
        await asyncio.sleep(0)


@pytest.mark.parametrize("steps", TURNS)
async def test_a_worker_that_ends_leaves_no_run_of_a_task_that_is_being_canceled(
    replica: Replica, steps: int
) -> None:
    working = replica.work()
    await replica.executor.begun(1)
    replica.aborted = True
    working.cancel()
    await cancel_again(working, steps)
    assert not working.done()  # its executor cancels still: the conversation stays locked
    replica.executor.may_end.set()
    await asyncio.wait([working])
    assert working.cancelled()
    assert replica.executor.stopped == ["a"]
    assert await replica.is_canceled()
    assert await replica.runs.rows() == []
    assert not replica.engine.under_way("a")


@pytest.mark.parametrize("steps", TURNS)
async def test_a_turn_whose_worker_ends_twice_goes_on_elsewhere_once_its_run_has_stopped(
    replica: Replica, steps: int
) -> None:
    working = replica.work()
    await replica.executor.begun(1)
    working.cancel()
    await cancel_again(working, steps)
    assert not working.done()
    replica.executor.may_end.set()
    await asyncio.wait([working])
    assert isinstance(working.exception(), Requeued)
    assert [row.task_id for row in await replica.runs.rows()] == ["a"]
    assert not replica.engine.under_way("a")


@pytest.mark.parametrize("steps", TURNS)
async def test_a_turn_that_is_canceled_twice_while_it_is_opened_leaves_nothing(
    replica: Replica, steps: int
) -> None:
    replica.store.slow = asyncio.Event()
    replica.executor.may_end.set()
    working = replica.work()
    await replica.store.asked.wait()
    replica.aborted = True
    working.cancel()
    await cancel_again(working, steps)
    assert not working.done()
    replica.store.slow.set()
    await asyncio.wait([working])
    assert working.cancelled()
    assert replica.executor.began == []
    assert await replica.is_canceled()
    assert await replica.runs.rows() == []
    assert not replica.engine.under_way("a")


async def test_a_turn_that_is_put_off_as_it_was_opened_does_not_begin(replica: Replica) -> None:
    replica.executor.may_end.set()
    working = replica.work()
    while not replica.engine.under_way("a"):
        await asyncio.sleep(0)
    await replica.engine._suspend_all(list(replica.engine._jobs.values()))
    await asyncio.wait([working])
    assert isinstance(working.exception(), Requeued)
    assert replica.executor.began == []
    assert [row.task_id for row in await replica.runs.rows()] == ["a"]
