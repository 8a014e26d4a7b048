"""Tasks are canceled while they run, wait in the line, or wait for their user."""

from __future__ import annotations

import asyncio

import pytest
from a2a.types.a2a_pb2 import Task
from a2a.utils.errors import TaskNotCancelableError, TaskNotFoundError

from tests.unit.engine.turns import CALL, OWNER, Executor, House, answer, status_of, task_of, turn
from utils.a2a_common.tasks.statuses import copy_of
from utils.errors import TaskBusy


async def endless(context, queue) -> None:
    await queue.enqueue_event(task_of(context))
    await queue.enqueue_event(status_of(context, "working"))
    await asyncio.Event().wait()


async def ask(context, queue) -> None:
    await queue.enqueue_event(task_of(context))
    await queue.enqueue_event(status_of(context, "input_required", "Which?"))


async def ask_once(context, queue) -> None:
    await (ask if context.current_task is None else answer)(context, queue)


async def first_event(house: House, task_id: str) -> None:
    async for _ in house.log.read(task_id, OWNER):
        return


async def test_a_running_turn_is_stopped_after_its_executor_was_told_and_ends_canceled() -> None:
    house = House(Executor(endless))
    await house.submit(turn("a"))
    await first_event(house, "a")
    await house.engine.cancel("a", OWNER, CALL)
    assert await house.state("a") == "canceled"
    assert (house.executor.canceled, house.executor.stopped) == (["a"], ["a"])
    assert not house.engine.under_way("a")
    assert await house.row_ids() == []


async def test_a_turn_that_has_said_nothing_yet_ends_canceled_too() -> None:
    house = House(Executor())
    house.executor.gate.clear()
    await house.submit(turn("a"))
    await house.executor.begun(1)
    await house.engine.cancel("a", OWNER, CALL)
    assert await house.state("a") == "canceled"


async def test_a_turn_is_canceled_in_the_moment_in_which_it_was_submitted() -> None:
    house = House(Executor())
    await house.submit(turn("a"))
    await house.engine.cancel("a", OWNER, CALL)
    assert await house.state("a") == "canceled"
    assert not house.engine.under_way("a")
    assert await house.row_ids() == []


async def test_a_turn_that_waits_in_the_line_is_canceled_without_having_run() -> None:
    house = House(Executor(endless), max_turns=1)
    await house.submit(turn("a"), turn("b"), turn("c"))
    await house.engine.cancel("b", OWNER, CALL)
    events = await house.events("b")
    assert [type(event).__name__ for event in events] == ["Task", "TaskStatusUpdateEvent"]
    assert await house.state("b") == "canceled"
    await house.engine.cancel("a", OWNER, CALL)
    await house.executor.begun(2)
    assert house.executor.began == ["a", "c"]


async def test_a_task_that_waits_for_its_user_is_canceled_without_a_run() -> None:
    house = House(Executor(ask))
    await house.submit(turn("a"))
    assert await house.settled("a") == ["input_required"]
    await house.engine.cancel("a", OWNER, CALL)
    assert await house.state("a") == "canceled"
    assert house.executor.canceled == ["a"]


async def test_two_cancels_at_once_are_one() -> None:
    house = House(Executor(endless))
    await house.submit(turn("a"))
    await first_event(house, "a")
    await asyncio.gather(*(house.engine.cancel("a", OWNER, CALL) for _ in range(2)))
    assert house.executor.canceled == ["a"]
    assert await house.state("a") == "canceled"


async def test_a_task_that_has_ended_and_one_of_somebody_else_are_not_canceled() -> None:
    house = House(Executor())
    await house.submit(turn("a"))
    await house.settled("a")
    with pytest.raises(TaskNotCancelableError):
        await house.engine.cancel("a", OWNER, CALL)
    house.executor.gate.clear()
    await house.submit(turn("b"))
    for task_id in ("b", "nothing"):
        with pytest.raises(TaskNotFoundError):
            await house.engine.cancel(task_id, "somebody else", CALL)
    house.executor.gate.set()
    assert await house.settled("b") == ["completed"]


async def test_a_task_that_has_ended_is_not_canceled_while_its_run_has_not_returned() -> None:
    returns = asyncio.Event()

    async def lingers(context, queue) -> None:
        await answer(context, queue)
        await returns.wait()

    house = House(Executor(lingers))
    await house.submit(turn("a"))
    await house.events("a")
    assert house.engine.under_way("a")
    with pytest.raises(TaskNotCancelableError):
        await house.engine.cancel("a", OWNER, CALL)
    assert (house.executor.canceled, house.executor.stopped) == ([], [])
    returns.set()
    assert await house.settled("a") == ["completed"]


async def test_a_cancel_goes_on_when_its_caller_leaves() -> None:
    house = House(Executor(endless))
    await house.submit(turn("a"))
    await first_event(house, "a")
    caller = asyncio.create_task(house.engine.cancel("a", OWNER, CALL))
    await asyncio.sleep(0)
    caller.cancel()
    assert await house.settled("a") == ["canceled"]


async def answered(house: House) -> Task:
    """A task that waited for its user, as it was then; its answer is worked on."""
    await house.submit(turn("a"))
    await house.settled("a")
    asked = copy_of(await house.log.head("a", OWNER))
    assert asked is not None
    house.executor.gate.clear()
    await house.submit(turn("a", message_id="reply", text="The second."))
    await house.executor.begun(2)
    return asked


async def test_a_cancel_of_what_waits_leaves_a_task_alone_that_was_answered_meanwhile() -> None:
    house = House(Executor(ask_once))
    asked = await answered(house)
    with pytest.raises(TaskNotCancelableError):
        await house.engine.cancel("a", OWNER, CALL, asked=asked)
    house.executor.gate.set()
    assert await house.settled("a") == ["completed"]
    assert house.executor.canceled == []


async def test_a_cancel_that_comes_beside_one_of_what_waits_is_not_lost_with_it() -> None:
    house = House(Executor(ask_once))
    asked = await answered(house)
    of_what_waits, of_all = await asyncio.gather(
        house.engine.cancel("a", OWNER, CALL, asked=asked),
        house.engine.cancel("a", OWNER, CALL),
        return_exceptions=True,
    )
    assert isinstance(of_what_waits, TaskNotCancelableError)
    assert of_all is None
    assert await house.state("a") == "canceled"


async def test_an_answer_that_comes_while_what_waits_is_canceled_is_refused() -> None:
    house = House(Executor(ask))
    await house.submit(turn("a"))
    await house.settled("a")
    cancel = asyncio.create_task(
        house.engine.cancel("a", OWNER, CALL, asked=await house.log.head("a", OWNER))
    )
    while not house.engine.under_way("a"):
        await asyncio.sleep(0)
    with pytest.raises(TaskBusy):
        await house.submit(turn("a", message_id="reply"))
    await cancel
    assert await house.state("a") == "canceled"
