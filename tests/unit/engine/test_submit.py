"""Turns are stored, wait for their conversation and for a free place, and run."""

from __future__ import annotations

import asyncio
import contextvars
import json

import pytest
from a2a.types.a2a_pb2 import Message, Part, Role, TaskState

from tests.unit.engine.turns import CALL, OWNER, Executor, House, answer, status_of, task_of, turn
from utils.a2a_common.tasks.turn import Turn
from utils.errors import Overloaded, StorageError, TaskBusy, TooManyRequests
from utils.observability import catalogue
from utils.observability.metrics import process_metrics
from utils.persistence.runs import MemoryRuns, RunRow, conversation_key
from utils.persistence.task_log_memory import MemoryTaskLogStore
from utils.persistence.task_log_store import Write


async def test_a_submitted_turn_is_stored_until_it_is_over_and_the_log_tells_all_of_it() -> None:
    house = House(Executor())
    house.executor.gate.clear()
    await house.submit(turn("a"))
    assert await house.row_ids() == ["a"]
    assert house.engine.under_way("a")
    house.executor.gate.set()
    kinds = [type(event).__name__ for event in await house.events("a")]
    assert kinds == ["Task", "TaskStatusUpdateEvent", "TaskArtifactUpdateEvent", "TaskStatusUpdateEvent"]
    assert await house.settled("a") == ["completed"]
    await house.engine.drain(0)
    assert await house.row_ids() == []


async def test_turns_of_a_conversation_run_one_at_a_time_in_their_order() -> None:
    running: list[str] = []
    most = 0

    async def work(context, queue) -> None:
        nonlocal most
        running.append(context.task_id)
        most = max(most, len(running))
        await asyncio.sleep(0)
        await answer(context, queue)
        running.remove(context.task_id)

    house = House(Executor(work))
    names = [f"t-{number}" for number in range(5)]
    await house.submit(*(turn(name, conversation="one") for name in names))
    assert set(await house.settled(*names)) == {"completed"}
    assert (house.executor.began, most) == (names, 1)


async def test_no_more_turns_run_at_once_than_may_and_the_line_is_bounded() -> None:
    house = House(Executor(), max_turns=2, max_waiting=1)
    house.executor.gate.clear()
    await house.submit(turn("a"), turn("b"), turn("c"))
    await house.executor.begun(2)
    with pytest.raises(Overloaded) as refused:
        await house.submit(turn("d"))
    assert refused.value.retry_after >= 1
    assert house.executor.began == ["a", "b"]
    assert await house.row_ids() == ["a", "b", "c"]
    assert not house.engine.under_way("d")
    house.executor.gate.set()
    assert await house.settled("a", "b", "c") == ["completed"] * 3
    await house.submit(turn("d"))
    assert await house.settled("d") == ["completed"]


@pytest.mark.parametrize("begins_with_task", [True, False])
async def test_a_waiting_turn_shows_its_task_at_once(begins_with_task: bool) -> None:
    house = House(Executor(begins_with_task=begins_with_task), max_turns=1)
    house.executor.gate.clear()
    await house.submit(turn("a"), turn("b"))
    assert await house.state("b") == "submitted"
    house.executor.gate.set()
    assert await house.settled("a", "b") == ["completed"] * 2
    names = [type(event).__name__ for event in await house.events("b")]
    assert names == ["Task", "TaskStatusUpdateEvent", "TaskArtifactUpdateEvent", "TaskStatusUpdateEvent"]


async def one_message(context, queue) -> None:
    answered = Message(message_id="said", role=Role.ROLE_AGENT, parts=[Part(text="Hello.")])
    await queue.enqueue_event(answered)


async def one_task(context, queue) -> None:
    whole = task_of(context)
    whole.status.state = TaskState.TASK_STATE_COMPLETED
    whole.artifacts.add(artifact_id="response", parts=[Part(text="Done.")])
    whole.metadata["room"] = "green"
    await queue.enqueue_event(whole)


async def test_an_executor_that_says_all_at_once_is_heard_though_its_task_was_shown_before() -> None:
    for work in (one_message, one_task):
        house = House(Executor(work), max_turns=1)
        house.executor.gate.clear()
        await house.submit(turn("a"), turn("b"))
        house.executor.gate.set()
        await house.settled("a", "b")
        snapshot = await house.log.snapshot("b", OWNER)
        assert snapshot is not None
        assert await house.state("b") == "completed"
        if work is one_message:
            assert snapshot.task.status.message.parts[0].text == "Hello."
            assert [type(event).__name__ for event in await house.events("a")] == ["Message"]
        else:
            assert snapshot.task.artifacts[0].parts[0].text == "Done."
            assert snapshot.task.metadata["room"] == "green"


async def test_a_second_turn_of_a_task_is_refused_while_the_first_is_under_way() -> None:
    house = House(Executor())
    house.executor.gate.clear()
    await house.submit(turn("a"))
    with pytest.raises(TaskBusy):
        await house.submit(turn("a", message_id="other"))
    house.executor.gate.set()
    await house.settled("a")
    assert house.executor.began == ["a"]


async def ask_then_answer(context, queue) -> None:
    if context.current_task is None:
        await queue.enqueue_event(task_of(context))
        await queue.enqueue_event(status_of(context, "input_required", "Which?"))
    else:
        await queue.enqueue_event(status_of(context, "completed"))


async def test_an_answer_joins_the_history_once_and_the_executor_sees_the_task_as_it_waited() -> None:
    house = House(Executor(ask_then_answer))
    await house.submit(turn("a", message_id="m-1"))
    await house.events("a")
    await house.submit(turn("a", message_id="m-2"))
    head = await house.log.head("a", "owner")
    assert head is not None
    assert [message.message_id for message in head.history] == ["m-1", "Which?", "m-2"]
    assert await house.settled("a") == ["completed"]
    waiting = house.executor.contexts[1].current_task
    assert waiting.status.message.message_id == "Which?"
    assert [message.message_id for message in waiting.history] == ["m-1"]


async def test_a_caller_with_all_its_turns_under_way_waits_and_another_one_is_served() -> None:
    house = House(Executor(), max_turns=4, caller_turns=2)
    house.executor.gate.clear()
    await house.submit(turn("a"), turn("b", conversation="conversation of a"))
    with pytest.raises(TooManyRequests, match=r"limit of requests per caller\. Try again in \d+ s\.$"):
        await house.submit(turn("c"))
    await house.submit(turn("d", owner="another"))
    await house.executor.begun(2)
    house.executor.gate.set()
    assert await house.settled("a", "b") == ["completed"] * 2
    await house.submit(turn("c"))
    assert await house.settled("c") == ["completed"]


async def test_where_nothing_is_set_a_caller_may_have_three_quarters_of_the_turns_under_way() -> None:
    house = House(Executor(), max_turns=4, caller_turns=None)
    house.executor.gate.clear()
    await house.submit(turn("a"), turn("b"), turn("c"))
    with pytest.raises(TooManyRequests):
        await house.submit(turn("d"))
    house.executor.gate.set()
    assert await house.settled("a", "b", "c") == ["completed"] * 3


async def test_a_caller_with_large_messages_under_way_waits_with_the_next_one() -> None:
    house = House(Executor(), caller_size=10_000)
    house.executor.gate.clear()
    await house.submit(turn("a", text="x" * 20_000))  # one is taken however large it is
    for size in (10, 9_000):
        with pytest.raises(TooManyRequests):
            await house.submit(turn("b", text="x" * size))
    await house.submit(turn("c", text="x" * 9_000, owner="another"), turn("d", owner="another"))
    house.executor.gate.set()
    assert await house.settled("a") == ["completed"]
    await house.submit(turn("b", text="x" * 9_000))
    assert await house.settled("b") == ["completed"]


async def test_callers_whose_turns_do_not_end_leave_a_place_to_one_who_has_none() -> None:
    house = House(Executor(), max_turns=8, max_waiting=16, fair=True)
    house.executor.gate.clear()
    for number in range(8):
        for user in ("mallory", "eve"):
            await house.submit(turn_of(user, f"{user} {number}"))
    await house.executor.begun(6)
    await house.submit(turn_of("ann", "ann"))
    await house.executor.begun(7)
    assert house.executor.began[-1] == "ann"
    house.executor.gate.set()
    assert await house.settled("mallory 7", "eve 7") == ["completed"] * 2


def turn_of(user: str, task_id: str) -> Turn:
    """A turn of a user, in a conversation of its own."""
    return turn(task_id, conversation=conversation_key(json.dumps(["", user]), task_id))


class FailingRuns(MemoryRuns):
    async def put(self, row: RunRow) -> None:
        raise StorageError("The database failed. Try again.")


async def test_a_turn_that_cannot_be_stored_is_refused_and_leaves_its_place_to_others() -> None:
    house = House(Executor(), runs=FailingRuns(), max_turns=1, max_waiting=0)
    for name in ("a", "b"):
        with pytest.raises(StorageError):
            await house.submit(turn(name))
        assert not house.engine.under_way(name)
    assert house.executor.began == []


def waiting_turns() -> float:
    lines = process_metrics().text().decode().splitlines()
    found = [line for line in lines if line.startswith(f"{catalogue.WAITING.name} ")]
    return float(found[0].split()[-1]) if found else 0.0


async def test_turns_that_wait_are_counted_until_they_begin_or_are_canceled() -> None:
    executor, before = Executor(), waiting_turns()
    executor.gate.clear()
    house = House(executor, max_turns=1)
    await house.submit(turn("a"), turn("b"), turn("c"))
    assert waiting_turns() == before + 2
    await house.engine.cancel("c", OWNER, CALL)
    assert waiting_turns() == before + 1
    executor.gate.set()
    await house.settled("a", "b")
    assert waiting_turns() == before


class UnheardRuns(MemoryRuns):
    """Stores a row, and its answer is an error; the next removals fail too."""

    def __init__(self, failing: int) -> None:
        super().__init__()
        self.failing = failing
        self.removed = asyncio.Event()
        self.unheard = True

    async def put(self, row: RunRow) -> None:
        await super().put(row)
        if self.unheard:
            raise StorageError("The answer was lost.")

    async def remove(self, task_id: str, *, writer: int) -> None:
        if self.failing:
            self.failing -= 1
            raise StorageError("The database failed. Try again.")
        await super().remove(task_id, writer=writer)
        self.removed.set()


async def test_a_turn_that_was_refused_though_its_row_is_stored_is_not_run_by_the_next_process() -> None:
    house = House(Executor(), runs=UnheardRuns(failing=0))
    with pytest.raises(StorageError):
        await house.submit(turn("a"))
    assert await house.row_ids() == []


async def test_a_row_that_cannot_be_removed_is_removed_as_soon_as_the_storage_works() -> None:
    runs = UnheardRuns(failing=1)
    runs.unheard = False
    house = House(Executor(), runs=runs)
    await house.submit(turn("a"))
    assert await house.settled("a") == ["completed"]
    async with asyncio.timeout(60):
        await runs.removed.wait()
    assert await house.row_ids() == []


class SlowRuns(MemoryRuns):
    def __init__(self) -> None:
        super().__init__()
        self.asked, self.go = asyncio.Event(), asyncio.Event()

    async def put(self, row: RunRow) -> None:
        self.asked.set()
        await self.go.wait()
        await super().put(row)


async def test_a_turn_runs_though_its_caller_left_while_it_was_stored() -> None:
    runs = SlowRuns()
    house = House(Executor(), runs=runs)
    caller = asyncio.create_task(house.submit(turn("a")))
    await runs.asked.wait()
    caller.cancel()
    await asyncio.wait([caller])
    runs.go.set()
    assert await house.settled("a") == ["completed"]


async def test_a_run_has_the_context_variables_of_its_sender() -> None:
    variable = contextvars.ContextVar("variable", default="nobody's")
    seen: list[str] = []

    async def work(context, queue) -> None:
        seen.append(variable.get())
        await answer(context, queue)

    house = House(Executor(work), max_turns=1)

    async def send(name: str) -> None:
        variable.set(name)
        await house.engine.submit(turn(name), CALL)

    await asyncio.gather(*(asyncio.create_task(send(name)) for name in ("a", "b", "c")))
    await house.settled("a", "b", "c")
    assert seen == house.executor.began


class FailingAppends(MemoryTaskLogStore):
    fails = False

    async def append(self, write: Write) -> None:
        if self.fails:
            raise StorageError("The disk is gone.")
        await super().append(write)


async def test_a_turn_whose_task_cannot_be_shown_while_it_waits_is_refused_and_never_begins() -> None:
    store = FailingAppends()
    house = House(Executor(), store, max_turns=1)
    house.executor.gate.clear()
    await house.submit(turn("a"))
    store.fails = True
    with pytest.raises(StorageError):
        await house.submit(turn("b"))
    store.fails = False
    assert not house.engine.under_way("b")
    house.executor.gate.set()
    assert await house.settled("a") == ["completed"]
    assert house.executor.began == ["a"]
    await house.engine.drain(0)
    assert await house.row_ids() == []
