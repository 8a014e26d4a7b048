"""Readers in one process follow tasks that another process writes, over PostgreSQL."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, aclosing
from typing import Any

import pytest
from a2a.server.events.event_queue import Event
from a2a.types.a2a_pb2 import (
    Artifact,
    Part,
    Task,
    TaskArtifactUpdateEvent,
    TaskState,
    TaskStatus,
    TaskStatusUpdateEvent,
)
from a2a.utils.errors import TaskNotFoundError

from tests.postgres import PostgresServer
from utils.a2a_common.engine.unfinished_turns import resubscribe_status
from utils.a2a_common.tasks import other_replicas
from utils.a2a_common.tasks.entries import Suspended
from utils.a2a_common.tasks.log import TaskLog
from utils.persistence.postgres.pool import PostgresPool
from utils.persistence.postgres.task_log import PostgresTaskLogStore

pytestmark = [pytest.mark.servers, pytest.mark.timeout(300)]

WORKING, DONE = TaskState.TASK_STATE_WORKING, TaskState.TASK_STATE_COMPLETED
ASKS = TaskState.TASK_STATE_INPUT_REQUIRED

Two = tuple[TaskLog, TaskLog]


@pytest.fixture
async def logs(postgres: PostgresServer) -> AsyncIterator[Two]:
    """The logs of two processes over one database."""
    async with AsyncExitStack() as stack:
        first = await stack.enter_async_context(postgres.opened())
        settings = postgres.settings(postgres.url(first.conninfo.rpartition("dbname=")[2].split()[0]))
        second = PostgresPool(settings, agent="test")
        await second.open()
        stack.push_async_callback(second.close)
        made = [TaskLog(PostgresTaskLogStore(pool)) for pool in (first, second)]
        for each in made:
            await each.open()
            stack.push_async_callback(each.close)
        yield made[0], made[1]


def follows(log: TaskLog) -> bool:
    """Whether the process of a log follows the task, and knows all of it that was notified."""
    return any(live.followed for live in log.other_replicas._followed.get("t", ()))


def task(state: TaskState = WORKING) -> Task:
    return Task(id="t", context_id="c", status=TaskStatus(state=state))


def status(state: TaskState) -> TaskStatusUpdateEvent:
    return TaskStatusUpdateEvent(task_id="t", context_id="c", status=TaskStatus(state=state))


def chunk(text: str, *, append: bool = True) -> TaskArtifactUpdateEvent:
    artifact = Artifact(artifact_id="a", parts=[Part(text=text)])
    return TaskArtifactUpdateEvent(task_id="t", context_id="c", artifact=artifact, append=append)


async def all_of(log: TaskLog, after: int = 0) -> list[Event]:
    async with aclosing(log.read("t", "ann", after=after)) as entries:
        return [entry.event async for entry in entries]


async def read_into(told: list[Event], log: TaskLog) -> None:
    async with aclosing(log.read("t", "ann")) as entries:
        async for entry in entries:
            told.append(entry.event)


def texts(events: list[Event]) -> str:
    return "".join(
        part.text for e in events if isinstance(e, TaskArtifactUpdateEvent) for part in e.artifact.parts
    )


async def begun(log: TaskLog) -> Any:
    writer = await log.claim("t", "ann")
    await writer.append(task())
    return writer


async def test_a_reader_elsewhere_sees_every_event_once_and_in_order_up_to_the_end(logs: Two) -> None:
    here, there = logs
    writer = await begun(here)
    reading = asyncio.create_task(all_of(there))
    await writer.append(chunk("0", append=False))
    for number in range(1, 300):
        await writer.append(chunk(f",{number}"))
        if number % 50 == 0:
            await asyncio.sleep(0)
    await writer.append(status(DONE))
    async with asyncio.timeout(60):
        events = await reading
    assert texts(events) == ",".join(map(str, range(300)))
    assert events[-1] == (await all_of(here))[-1]
    writer.release()


async def test_a_task_elsewhere_is_seen_as_it_is_and_followed_from_there(logs: Two) -> None:
    here, there = logs
    writer = await begun(here)
    await writer.append(chunk("a", append=False))
    await writer.flushed()
    seen = await there.snapshot("t", "ann")
    assert seen is not None
    assert seen.task.artifacts[0].parts[0].text == "a"
    reading = asyncio.create_task(all_of(there, after=seen.sequence))
    await writer.append(chunk("b"))
    await writer.append(status(DONE))
    async with asyncio.timeout(60):
        assert texts(await reading) == "b"
    assert await there.snapshot("t", "bob") is None


async def test_a_turn_that_begins_and_ends_here_while_a_reader_asks_the_others_is_read(logs: Two) -> None:
    here, _ = logs
    writer = await begun(here)
    await writer.append(status(ASKS))
    await writer.flushed()
    writer.release()
    asked = await here.snapshot("t", "ann")
    assert asked is not None

    async def another_turn_meanwhile(*_: str) -> bool:
        answering = await here.claim("t", "ann")
        for event in (status(WORKING), chunk("b", append=False), status(DONE)):
            await answering.append(event)
        await answering.flushed()
        answering.release()
        return False

    here.other_replicas.has_turn = another_turn_meanwhile
    async with asyncio.timeout(60):
        assert texts(await all_of(here, after=asked.sequence)) == "b"


async def test_several_readers_of_one_task_see_the_same(logs: Two) -> None:
    here, there = logs
    writer = await begun(here)
    readings = [asyncio.create_task(all_of(there)) for _ in range(5)]
    await writer.append(chunk("a", append=False))
    await writer.append(status(DONE))
    async with asyncio.timeout(60):
        assert [texts(await reading) for reading in readings] == ["a"] * 5


async def test_what_was_not_notified_is_found_all_the_same(
    logs: Two, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = logs

    async def not_at_all(*_: object) -> None:
        """As a server that fails over loses notifications."""

    monkeypatch.setattr(PostgresPool, "notify", not_at_all)
    writer = await begun(here)
    reading = asyncio.create_task(all_of(there))
    await writer.append(chunk("a", append=False))
    await writer.append(status(DONE))
    async with asyncio.timeout(60):
        assert texts(await reading) == "a"


async def test_without_looks_the_notification_alone_wakes_a_reader(
    logs: Two, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(other_replicas, "POLL_SECONDS", 3600)
    here, there = logs
    await there.other_replicas.stop()
    there.other_replicas.start()
    writer = await begun(here)
    reading = asyncio.create_task(all_of(there))
    await writer.append(chunk("a", append=False))
    await writer.append(status(DONE))
    async with asyncio.timeout(60):
        assert texts(await reading) == "a"


async def test_a_task_that_waits_for_its_user_is_not_waited_for_unless_a_turn_is_on_its_way(
    logs: Two,
) -> None:
    here, there = logs
    writer = await begun(here)
    await writer.append(status(ASKS))
    writer.release()
    seen = await there.snapshot("t", "ann")
    assert seen is not None
    assert await all_of(there, after=seen.sequence) == []

    on_its_way = True

    async def has_turn(task_id: str, owner: str) -> bool:
        assert (task_id, owner) == ("t", "ann")
        return on_its_way

    there.other_replicas.has_turn = has_turn
    reading = asyncio.create_task(all_of(there, after=seen.sequence))
    writer = await here.claim("t", "ann")
    await writer.append(status(WORKING))
    await writer.append(status(DONE))
    on_its_way = False
    async with asyncio.timeout(60):
        assert [event.status.state for event in await reading] == [WORKING, DONE]  # type: ignore[union-attr]


async def test_a_turn_that_is_taken_over_here_is_followed_on(logs: Two) -> None:
    here, there = logs
    writer = await begun(here)
    await writer.append(chunk("a", append=False))
    await writer.flushed()
    reading = asyncio.create_task(all_of(there))
    await until(lambda: there.readers("t", "ann") == 0 and follows(there))
    taken = await there.claim("t", "ann")
    await taken.append(chunk("b", append=False))
    await taken.append(status(DONE))
    async with asyncio.timeout(60):
        assert texts(await reading) == "ab"


async def test_who_reads_a_turn_that_another_process_takes_over_reads_on_what_that_one_writes(
    logs: Two,
) -> None:
    here, there = logs
    writer = await begun(here)
    await writer.append(chunk("a", append=False))
    readings = [asyncio.create_task(all_of(here)) for _ in range(2)]
    await until(lambda: not writer.unstored())
    taken = await there.claim("t", "ann")
    await writer.append(chunk("b"))  # its readers see it before the store refuses it
    await writer.lost.wait()
    writer.release()
    await taken.append(chunk("c", append=False))
    await taken.append(status(DONE))
    async with asyncio.timeout(60):
        assert [texts(await reading) for reading in readings] == ["abc"] * 2


async def test_who_begins_to_follow_while_the_process_ends_is_told_to_subscribe_again(logs: Two) -> None:
    here, there = logs
    await begun(here)
    there.other_replicas.cut(resubscribe_status)
    told: list[Event] = []
    async with asyncio.timeout(60):
        with pytest.raises(Suspended):
            await read_into(told, there)
    assert "resubscribe" in str(told[-1])


async def test_readers_are_told_to_subscribe_again_where_their_process_ends(logs: Two) -> None:
    here, there = logs
    await begun(here)
    told: list[Event] = []
    reading = asyncio.create_task(read_into(told, there))
    await until(lambda: bool(told) and follows(there))
    there.other_replicas.cut(resubscribe_status)
    with pytest.raises(Suspended):
        await reading
    assert "resubscribe" in str(told[-1])


async def test_a_task_that_is_deleted_ends_its_readers(logs: Two) -> None:
    here, there = logs
    writer = await begun(here)
    reading = asyncio.create_task(all_of(there))
    await until(lambda: follows(there))
    writer.release()
    await here.delete("t", "ann")
    async with asyncio.timeout(60):
        with pytest.raises(TaskNotFoundError):
            await reading


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not condition():
            await asyncio.sleep(0.01)
