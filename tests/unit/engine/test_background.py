"""What an error that nobody foresaw leaves of the work in the background: all of it, a moment later."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable

import pytest

from tests.contract.queue.kinds import memory_tables
from tests.unit.engine.turns import Executor, House
from tests.unit.tasks.events import FAILED, chunk, task
from tests.unit.tasks.faulty_store import FaultyStore
from utils.a2a_common.engine.procrastinate_queue import ProcrastinateQueue
from utils.a2a_common.engine.recovery import Recovery
from utils.a2a_common.engine.removal import RunRemoval
from utils.a2a_common.engine.sweeper import Sweeper
from utils.a2a_common.engine.turn_queue import QueuedTurn
from utils.a2a_common.tasks.log import TaskLog
from utils.errors import StorageError
from utils.persistence.runs import MemoryRuns, RunRow
from utils.persistence.task_log_memory import MemoryTaskLogStore
from utils.persistence.task_log_store import Write


async def until(true: Callable[[], object]) -> None:
    async with asyncio.timeout(30):
        while not true():
            await asyncio.sleep(0.001)


class FragileQueue(ProcrastinateQueue):
    """Its first count fails in a way that no storage fails. Notes the looks for dead replicas."""

    counts = 0
    looks = 0

    async def waiting(self) -> int:
        self.counts += 1
        if self.counts == 1:
            raise RuntimeError("not foreseen")
        return await super().waiting()

    async def requeue_stalled(self) -> list[str]:
        self.looks += 1
        return await super().requeue_stalled()


async def no_work(turn: QueuedTurn) -> None:
    """Nothing is queued here."""


async def test_turns_of_dead_replicas_are_looked_for_again_after_an_error() -> None:
    house = House(Executor())
    recovery = Recovery(house.log, house.runs, house.runner, lambda _: None)
    async with memory_tables() as tables:
        queue = FragileQueue(tables(), at_once=1, takeover_seconds=1.0)
        await queue.open(no_work)
        sweeper = Sweeper(queue, house.log, house.runs, recovery)
        sweeper.start()
        await until(lambda: queue.looks)
        await sweeper.stop()
        await queue.close()


async def test_a_replica_that_drains_gives_signs_of_life_also_after_one_that_failed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with memory_tables() as tables:
        queue = ProcrastinateQueue(tables(), at_once=1, takeover_seconds=1.0)
        await queue.open(no_work)
        jobs = queue._manager
        assert jobs is not None
        await until(lambda: jobs.worker_id)
        given, beat = list[int](), jobs.update_heartbeat

        async def fragile(worker_id: int) -> None:
            given.append(worker_id)
            if len(given) == 1:
                raise RuntimeError("not foreseen")
            await beat(worker_id)

        monkeypatch.setattr(jobs, "update_heartbeat", fragile)
        await queue.stop_working()
        await until(lambda: len(given) > 2)
        await queue.close()


class FragileRuns(MemoryRuns):
    """The storage fails once, and then something else does."""

    tries = 0

    async def remove(self, task_id: str, *, writer: int) -> None:
        self.tries += 1
        if self.tries == 1:
            raise StorageError("The storage failed.")
        if self.tries == 2:
            raise RuntimeError("not foreseen")
        await super().remove(task_id, writer=writer)


async def test_the_row_of_a_turn_that_is_over_is_removed_after_an_error_that_is_none_of_the_storage() -> None:
    runs = FragileRuns()
    await runs.put(RunRow("a", "c", "ann", b"", writer=1))
    removal = RunRemoval(runs)
    assert not await removal.remove("a", 1)
    async with asyncio.timeout(30):
        while await runs.rows():
            await asyncio.sleep(0.001)
    await removal.close()


class FragileStore(FaultyStore):
    """Fails once more, in another way, when it works again."""

    wrong = True

    async def append(self, write: Write) -> None:
        if not self.failing and self.wrong:
            self.wrong = False
            raise RuntimeError("not foreseen")
        await super().append(write)


async def test_the_end_of_a_task_is_stored_after_an_error_that_is_none_of_the_storage() -> None:
    store = FragileStore()
    store.wrong = False
    log = TaskLog(store)
    writer = await log.claim("t", "ann")
    await writer.append(task())
    await writer.flushed()
    store.failing.add("t")
    await writer.append(chunk("a", append=False))
    await writer.lost.wait()
    writer.release()
    store.wrong = True
    store.failing.clear()
    other = TaskLog(store)
    async with asyncio.timeout(30):
        while (head := await other.head("t", "ann")) is None or head.status.state != FAILED:
            await asyncio.sleep(0.001)
    assert not store.wrong
    await log.close()


class Announcing(MemoryTaskLogStore):
    """Tells of changes, and breaks off once."""

    made = 0

    async def _told(self, number: int) -> AsyncGenerator[str, None]:
        yield ""
        if number == 1:
            raise RuntimeError("not foreseen")
        await asyncio.Event().wait()

    def changes(self) -> AsyncGenerator[str, None]:
        return self._listened()

    async def _listened(self) -> AsyncGenerator[str, None]:
        self.made += 1
        async for each in self._told(self.made):
            yield each


async def test_what_other_processes_write_is_heard_of_after_a_break() -> None:
    store = Announcing()
    log = TaskLog(store)
    await log.open()
    await until(lambda: store.made == 2)
    await log.close()
