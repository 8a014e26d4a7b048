"""The next process goes on with the turns that the one before left, or ends them."""

from __future__ import annotations

import pytest
from google.protobuf import json_format

from tests.unit.engine.test_cancel import endless, first_event
from tests.unit.engine.test_submit import ask_then_answer
from tests.unit.engine.turns import OWNER, Executor, House, turn
from utils.a2a_common.protocol.extensions import ERROR_EXTENSION
from utils.a2a_common.tasks.turn import encode_turn
from utils.persistence.runs import RunRow
from utils.persistence.task_log_memory import MemoryTaskLogStore
from utils.persistence.task_log_store import Stored


async def finish(context, queue) -> None:
    from tests.unit.engine.turns import answer

    await answer(context, queue)


async def left_working(task_id: str = "a") -> House:
    """A process that was killed in the middle of a turn."""
    house = House(Executor(endless, resumable=True))
    await house.submit(turn(task_id))
    await first_event(house, task_id)
    return house


def error_of(event: object) -> dict[str, object]:
    found: dict[str, object] = json_format.MessageToDict(event.metadata)[ERROR_EXTENSION]  # type: ignore[attr-defined]
    return found


async def test_a_turn_whose_process_died_goes_on_and_the_dead_can_write_nothing_any_more() -> None:
    before = await left_working()
    after = before.next(Executor(resumable=True))
    await after.engine.start()
    assert await after.settled("a") == ["completed"]
    assert after.executor.contexts[0].resumed
    before.executor.gate.set()
    assert await before.row_ids() == []


async def test_turns_that_waited_go_on_in_their_order() -> None:
    before = House(Executor(endless, resumable=True, begins_with_task=True), max_turns=1)
    names = ["a", "b", "c"]
    await before.submit(*(turn(name, conversation="one") for name in names))
    after = before.next(Executor(resumable=True))
    await after.engine.start()
    assert await after.settled(*names) == ["completed"] * 3
    assert after.executor.began == names


async def test_a_reader_follows_a_turn_that_goes_on() -> None:
    before = await left_working()
    after = before.next(Executor(resumable=True))
    await after.engine.start()
    kinds = [type(event).__name__ for event in await after.events("a")]
    assert (kinds[0], kinds[-2:]) == ("Task", ["TaskArtifactUpdateEvent", "TaskStatusUpdateEvent"])


async def test_a_turn_that_was_taken_over_twice_fails_as_interrupted() -> None:
    house = await left_working()
    for attempt in (1, 2):
        house = house.next(Executor(endless, resumable=True))
        await house.engine.start()
        await house.executor.begun(1)
        assert [row.attempts for row in await house.runs.rows()] == [attempt]
    house = house.next(Executor(resumable=True))
    await house.engine.start()
    assert await house.state("a") == "failed"
    assert error_of((await house.events("a"))[-1])["code"] == "interrupted"
    await house.engine.drain(0)
    assert (house.executor.began, house.executor.abandoned) == ([], ["a"])
    assert await house.row_ids() == []


async def test_a_process_that_stops_in_order_does_not_count_as_one_that_died() -> None:
    house = await left_working()
    for _ in range(4):
        await house.engine.drain(0)
        house = house.next(Executor(endless, resumable=True))
        await house.engine.start()
        await house.executor.begun(1)
    assert await house.state("a") == "working"


async def test_a_turn_of_an_executor_that_cannot_resume_fails_as_interrupted() -> None:
    before = await left_working()
    after = before.next(Executor())
    await after.engine.start()
    assert await after.state("a") == "failed"
    assert error_of((await after.events("a"))[-1]) == {
        "code": "interrupted",
        "message": "The agent was restarted while it worked on this. Send the request again.",
        "retryable": True,
        "trace_id": "",
    }


async def test_a_turn_that_died_before_its_first_event_has_a_failed_task() -> None:
    before = House(Executor())
    before.executor.gate.clear()
    await before.submit(turn("a"))
    after = before.next(Executor())
    await after.engine.start()
    assert [type(event).__name__ for event in await after.events("a")] == ["Task", "TaskStatusUpdateEvent"]
    assert await after.state("a") == "failed"


async def test_a_task_that_works_without_a_stored_turn_fails_and_its_children_are_let_go() -> None:
    before = await left_working()
    await before.runs.remove("a", writer=99)
    after = before.next(Executor(resumable=True))
    await after.engine.start()
    assert await after.state("a") == "failed"
    await after.engine.drain(0)
    assert after.executor.abandoned == ["a"]


async def test_a_turn_that_was_over_is_not_run_again_though_its_row_stayed() -> None:
    for work, state in ((finish, "completed"), (ask_then_answer, "input_required")):
        before = House(Executor(work, resumable=True))
        await before.submit(turn("a"))
        row = (await before.runs.rows())[0]
        await before.settled("a")
        await before.engine.drain(0)
        await before.runs.put(row)
        after = before.next(Executor(resumable=True))
        await after.engine.start()
        assert await after.settled("a") == [state]
        assert after.executor.began == []
        assert await after.row_ids() == []


@pytest.mark.parametrize("moment", ["before its message is in the history", "after that"])
async def test_an_answer_that_was_accepted_is_worked_on_though_its_process_died_at_once(moment: str) -> None:
    before = House(Executor(ask_then_answer, resumable=True))
    await before.submit(turn("a", message_id="m-1"))
    await before.settled("a")
    before.executor.gate.clear()
    if moment == "after that":
        await before.submit(turn("a", message_id="m-2"))
    else:
        reply = turn("a", message_id="m-2")
        await before.runs.put(RunRow("a", reply.conversation, OWNER, encode_turn(reply), writer=99))
    after = before.next(Executor(ask_then_answer, resumable=True))
    await after.engine.start()
    assert await after.settled("a") == ["completed"]
    context = after.executor.contexts[0]
    assert (context.resumed, context.answers) == (True, True)
    head = await after.log.head("a", OWNER)
    assert head is not None
    assert [message.message_id for message in head.history] == ["m-1", "Which?", "m-2"]


async def test_a_row_that_cannot_be_read_ends_its_task_and_keeps_nobody_from_starting() -> None:
    before = await left_working()
    row = (await before.runs.rows())[0]
    await before.runs.put(RunRow(row.task_id, row.conversation, row.owner, b"damaged", row.writer))
    after = before.next(Executor(resumable=True))
    await after.engine.start()
    assert await after.state("a") == "failed"
    assert await after.row_ids() == []


class TakenAtOnce(MemoryTaskLogStore):
    """As soon as one process has claimed a task, another one does, where `taken` says so."""

    taken = False

    async def claim(self, task_id: str, owner: str) -> Stored:
        stored = await super().claim(task_id, owner)
        if self.taken:
            await super().claim(task_id, owner)
        return stored


async def test_a_turn_that_another_process_takes_meanwhile_is_left_to_it() -> None:
    store = TakenAtOnce()
    before = House(Executor(ask_then_answer, resumable=True), store)
    await before.submit(turn("a", message_id="m-1"))
    await before.settled("a")
    reply = turn("a", message_id="m-2")
    await before.runs.put(RunRow("a", reply.conversation, OWNER, encode_turn(reply), writer=99))
    store.taken = True
    after = before.next(Executor(ask_then_answer, resumable=True))
    await after.engine.start()
    assert not after.engine.under_way("a")
    assert after.executor.began == []
    assert await after.row_ids() == ["a"]
