"""The process stops: running turns finish within the grace, the rest is kept or fails."""

from __future__ import annotations

import asyncio

import pytest
from a2a.types.a2a_pb2 import TaskState, TaskStatusUpdateEvent
from google.protobuf import json_format

from tests.unit.engine.test_cancel import endless, first_event
from tests.unit.engine.turns import CALL, OWNER, Executor, House, turn
from utils.a2a_common.protocol.extensions import ACTIVITY_EXTENSION, ERROR_EXTENSION, parse_resubscribe
from utils.a2a_common.tasks.entries import Suspended
from utils.errors import Draining, StorageError
from utils.persistence.task_log_memory import MemoryTaskLogStore
from utils.persistence.task_log_store import Write


async def test_no_turn_is_taken_and_a_running_one_finishes_within_the_grace() -> None:
    house = House(Executor())
    house.executor.gate.clear()
    await house.submit(turn("a"))
    await house.executor.begun(1)
    drained = asyncio.create_task(house.engine.drain(60))
    await asyncio.sleep(0)
    with pytest.raises(Draining) as refused:
        await house.submit(turn("b"))
    assert refused.value.retry_after > 0
    house.executor.gate.set()
    await drained
    assert await house.state("a") == "completed"
    assert await house.row_ids() == []


async def test_what_does_not_finish_is_kept_and_its_readers_are_told_to_come_back() -> None:
    house = House(Executor(endless, resumable=True, begins_with_task=True), max_turns=1)
    await house.submit(turn("a"), turn("b"))
    await first_event(house, "a")
    seen: list[TaskStatusUpdateEvent] = []

    async def follow(task_id: str) -> None:
        try:
            async for entry in house.log.read(task_id, OWNER):
                last = entry.event
        except Suspended:
            assert isinstance(last, TaskStatusUpdateEvent)
            seen.append(last)

    readers = [asyncio.create_task(follow(task_id)) for task_id in ("a", "b")]
    for _ in range(5):
        await asyncio.sleep(0)
    await house.engine.drain(0)
    await asyncio.gather(*readers)
    assert len(seen) == 2
    for event in seen:
        assert event.status.state == TaskState.TASK_STATE_WORKING
        payload = json_format.MessageToDict(event.metadata)[ACTIVITY_EXTENSION]
        assert parse_resubscribe(payload) == 5.0
    assert await house.row_ids() == ["a", "b"]
    assert house.executor.contexts[0].suspended.is_set()
    assert await house.next(Executor()).state("a") in ("working", "submitted")


async def test_a_turn_that_cannot_be_resumed_fails_as_interrupted() -> None:
    house = House(Executor(endless), max_turns=1)
    await house.submit(turn("a"), turn("b"))
    await first_event(house, "a")
    await house.engine.drain(0)
    for task_id in ("a", "b"):
        events = await house.events(task_id)
        error = json_format.MessageToDict(events[-1].metadata)[ERROR_EXTENSION]
        assert (error["code"], error["retryable"]) == ("interrupted", True)
        assert await house.state(task_id) == "failed"
    assert house.executor.stopped == ["a"]
    assert await house.row_ids() == []


async def test_a_drain_twice_is_a_drain() -> None:
    house = House(Executor(endless, resumable=True))
    await house.submit(turn("a"))
    await first_event(house, "a")
    for _ in range(2):
        await house.engine.drain(0)
        with pytest.raises(Draining):
            await house.submit(turn("b"))
    assert house.executor.stopped == ["a"]
    assert await house.row_ids() == ["a"]


async def test_work_in_the_background_holds_up_a_stop_for_a_bounded_time() -> None:
    class Hanging(Executor):
        async def abandon(self, task_id: str) -> None:
            self.abandoned.append(task_id)
            await asyncio.Event().wait()

    before = House(Executor(endless, resumable=False))
    await before.submit(turn("a"))
    await first_event(before, "a")
    after = before.next(Hanging(resumable=False))
    await after.engine.start()
    async with asyncio.timeout(60):
        await after.engine.drain(0)
    assert after.executor.abandoned == ["a"]


class HeldAppends(MemoryTaskLogStore):
    """Stores nothing while `free` is not set."""

    def __init__(self) -> None:
        super().__init__()
        self.free = asyncio.Event()
        self.free.set()

    async def append(self, write: Write) -> None:
        await self.free.wait()
        await super().append(write)


async def test_a_waiting_turn_that_is_canceled_while_the_process_stops_ends_once() -> None:
    store = HeldAppends()
    house = House(Executor(endless), store, max_turns=1)
    await house.submit(turn("a"), turn("b"))
    store.free.clear()
    cancel = asyncio.create_task(house.engine.cancel("b", OWNER, CALL))
    stop = asyncio.create_task(house.engine.drain(0))
    for _ in range(20):
        await asyncio.sleep(0)
    store.free.set()
    async with asyncio.timeout(60):
        await asyncio.gather(cancel, stop)
    assert await house.state("b") in ("canceled", "failed")
    assert not house.engine.under_way("b")


class FailingAppends(MemoryTaskLogStore):
    """Stores nothing while it `fails`; `failed` is set by the first refusal."""

    def __init__(self) -> None:
        super().__init__()
        self.fails = False
        self.failed = asyncio.Event()

    async def append(self, write: Write) -> None:
        if self.fails:
            self.failed.set()
            raise StorageError("The disk is gone.")
        await super().append(write)


async def test_a_cancel_that_cannot_be_stored_before_the_process_stops_is_refused_and_not_answered() -> None:
    store = FailingAppends()
    house = House(Executor(endless, resumable=True), store, max_turns=1)
    await house.submit(turn("a"), turn("b"))
    store.fails = True
    cancel = asyncio.create_task(house.engine.cancel("b", OWNER, CALL))
    await store.failed.wait()
    await house.engine.drain(0)
    with pytest.raises((Draining, StorageError)):
        await cancel
    store.fails = False
    after = house.next(Executor())
    await after.engine.start()
    assert await after.state("b") == "failed", "told by nobody as canceled"
