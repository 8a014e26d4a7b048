"""What is stored for the resume of a turn is deleted once the turn can never be resumed, and not before."""

from __future__ import annotations

import asyncio

from tests.unit.engine.test_cancel import endless, first_event
from tests.unit.engine.test_submit import ask_then_answer
from tests.unit.engine.turns import CALL, OWNER, Executor, House, status_of, task_of, turn
from utils.errors import StorageError
from utils.persistence.runs import MemoryRuns


class Watching(Executor):
    """Notes what the stores hold when it is told to forget."""

    house: House

    async def forget(self, task_id: str) -> None:
        self.forgotten.append(f"{task_id} {await self.house.state(task_id)} {await self.house.row_ids()}")


async def test_it_is_deleted_when_the_end_of_the_task_is_stored_and_the_turn_is_removed() -> None:
    executor = Watching(resumable=True)
    house = executor.house = House(executor)
    await house.submit(turn("a"))
    await house.settled("a")
    await house.engine.drain(1)
    assert executor.forgotten == ["a completed []"]


async def test_it_is_deleted_when_the_task_is_canceled() -> None:
    executor = Watching(endless, resumable=True)
    house = executor.house = House(executor)
    await house.submit(turn("a"))
    await first_event(house, "a")
    await house.engine.cancel("a", OWNER, CALL)
    assert executor.forgotten == ["a canceled []"]


async def test_it_is_kept_while_the_task_waits_for_its_user() -> None:
    house = House(Executor(ask_then_answer, resumable=True))
    await house.submit(turn("a"))
    assert await house.settled("a") == ["input_required"]
    await house.engine.drain(1)
    assert house.executor.forgotten == []


async def test_it_is_kept_for_a_turn_that_goes_on_in_the_next_process() -> None:
    house = House(Executor(endless, resumable=True))
    await house.submit(turn("a"))
    await first_event(house, "a")
    await house.engine.drain(0)
    assert (house.executor.forgotten, await house.row_ids()) == ([], ["a"])


class Kept(MemoryRuns):
    """Removes nothing."""

    async def remove(self, task_id: str, *, writer: int) -> None:
        raise StorageError("The disk is full.")


async def test_it_is_kept_while_the_storage_takes_neither_the_end_nor_the_removal() -> None:
    full = asyncio.Event()

    async def late(context, queue) -> None:
        await queue.enqueue_event(task_of(context))
        await full.wait()
        await queue.enqueue_event(status_of(context, "completed"))

    house = House(Executor(late, resumable=True), runs=Kept())
    await house.submit(turn("a"))
    await first_event(house, "a")
    house.store.append = fail  # type: ignore[method-assign, assignment]
    full.set()
    assert await house.settled("a") == ["failed"]
    assert (house.executor.forgotten, await house.row_ids()) == ([], ["a"])


async def fail(_: object) -> None:
    raise StorageError("The disk is full.")
