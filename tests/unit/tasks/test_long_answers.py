"""Long answers, slow readers, and how much of a log is in memory."""

import asyncio
import time
from contextlib import aclosing

import pytest

from tests.unit.tasks.events import COMPLETED, WORKING, chunk, status, task
from tests.unit.tasks.faulty_store import FaultyStore
from utils.a2a_common.tasks import backlog, live
from utils.a2a_common.tasks.log import TaskLog
from utils.persistence.task_log_memory import MemoryTaskLogStore
from utils.persistence.task_log_sqlite import SqliteTaskLogStore


@pytest.fixture(params=["memory", "sqlite"])
async def log(request, tmp_path):
    sqlite = request.param == "sqlite"
    made = TaskLog(SqliteTaskLogStore(tmp_path / "t.sqlite") if sqlite else MemoryTaskLogStore())
    await made.open()
    yield made
    await made.close()


async def answer(log: TaskLog, task_id: str, chunks: int) -> None:
    turn = await log.claim(task_id, "ann")
    await turn.append(task(task_id))
    await turn.append(status(WORKING, task_id=task_id))
    for number in range(chunks):
        await turn.append(chunk(f"{number} ", append=number > 0, task_id=task_id))
    await turn.append(status(COMPLETED, task_id=task_id))
    turn.release()


@pytest.mark.slow
async def test_the_cost_of_an_answer_is_linear_in_its_length(log):
    async def seconds(chunks: int, time_of: int) -> float:
        """Of this thread alone: what others of the process do is not the log's."""
        name = f"{time_of} of {chunks}"
        began = time.thread_time()
        await answer(log, name, chunks)
        snapshot = await log.snapshot(name, "ann")
        assert snapshot is not None
        assert snapshot.task.artifacts[0].parts[0].text == "".join(f"{number} " for number in range(chunks))
        return time.thread_time() - began

    await seconds(100, 0)  # warm
    short = min([await seconds(1000, time_of) for time_of in range(3)])
    long = min([await seconds(10_000, time_of) for time_of in range(2)])
    assert long < 30 * short  # quadratic would be 100


async def test_a_reader_far_behind_reads_from_the_store_and_misses_nothing(log):
    reader = log.read("t", "ann")
    claimed = asyncio.Event()

    async def follow() -> list[int]:
        seen = []
        async with aclosing(reader) as entries:
            async for entry in entries:
                seen.append(entry.sequence)
                if entry.sequence == 2:
                    await claimed.wait()  # it reads nothing while all the others are written
        return seen

    turn = await log.claim("t", "ann")
    following = asyncio.create_task(follow())
    await turn.append(task())
    await turn.append(status(WORKING))
    for number in range(4000):
        await turn.append(status(WORKING, n=float(number)))
    held = log._lives["ann", "t"]
    assert len(held._entries) <= live.RECENT_ENTRIES + backlog.MAX_WAITING
    claimed.set()
    await turn.append(status(COMPLETED))
    assert await following == list(range(1, 4004))


async def test_a_log_holds_few_bytes_however_large_its_events_are(log):
    turn = await log.claim("t", "ann")
    await turn.append(task())
    for number in range(40):
        await turn.append(chunk("x" * 500_000, append=number > 0))
    await turn.flushed()
    held = log._lives["ann", "t"]
    assert held._bytes <= live.RECENT_BYTES
    async with aclosing(log.read("t", "ann")) as entries:
        assert (await anext(entries)).sequence == 1
        assert (await anext(entries)).sequence == 2
    await turn.append(status(COMPLETED))


async def test_an_executor_that_is_faster_than_the_storage_is_slowed_down():
    store = FaultyStore()
    log = TaskLog(store)
    turn = await log.claim("t", "ann")
    await turn.append(task())
    store.open_gate.clear()

    async def flood() -> None:
        for number in range(3 * backlog.MAX_WAITING):
            await turn.append(chunk("x", append=number > 0))

    flooding = asyncio.create_task(flood())
    while len(turn._backlog._waiting) < backlog.MAX_WAITING:
        await asyncio.sleep(0)
    for _ in range(100):
        await asyncio.sleep(0)
    assert len(turn._backlog._waiting) == backlog.MAX_WAITING
    store.open_gate.set()
    await flooding
    await turn.append(status(COMPLETED))
    assert len([entry async for entry in log.read("t", "ann")]) == 3 * backlog.MAX_WAITING + 2


async def test_a_snapshot_of_a_long_answer_does_not_hold_the_event_loop_up():
    threads: list[str] = []

    async def in_thread(function, *arguments):
        threads.append(function.__name__)
        return await asyncio.to_thread(function, *arguments)

    log = TaskLog(MemoryTaskLogStore(), in_thread=in_thread)
    await answer(log, "short", 10)
    await log.snapshot("short", "ann")
    assert not threads
    await answer(log, "long", 2000)
    await log.snapshot("long", "ann")
    assert threads == ["assemble"]
