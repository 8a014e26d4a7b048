"""What becomes of the events of an agent, in the order in which it tells them or out of it."""

from __future__ import annotations

from typing import Any

import pytest
from a2a.helpers.proto_helpers import new_task_from_user_message
from a2a.types import a2a_pb2 as pb
from a2a.types.a2a_pb2 import TaskState
from google.protobuf.json_format import MessageToDict

from tests.contract.handler.kinds import asking, duty, ended, opened, read_on, said, states, texts
from tests.e2e.wire.agents import Stage

WORKING = TaskState.TASK_STATE_WORKING
COMPLETED = TaskState.TASK_STATE_COMPLETED


def remark(text: str) -> pb.Message:
    return pb.Message(message_id=text, role=pb.Role.ROLE_AGENT, parts=[pb.Part(text=text)])


async def tell(stage: Stage, state: TaskState, **fields: Any) -> None:
    """A status with a message or metadata."""
    metadata = fields.pop("metadata", None)
    await stage.queue.enqueue_event(
        pb.TaskStatusUpdateEvent(
            task_id=stage.context.task_id,
            context_id=stage.context.context_id,
            status=pb.TaskStatus(state=state, **fields),
            metadata=metadata,
        )
    )


@duty()
async def test_a_second_message_is_not_told(kind):
    async def twice(stage: Stage) -> None:
        await stage.queue.enqueue_event(remark("one"))
        await stage.queue.enqueue_event(remark("two"))

    async with opened(kind, twice) as desk:
        events = await read_on(desk.streaming(asking()))
        assert [event.message_id for event in events if isinstance(event, pb.Message)] == ["one"]


@duty()
async def test_after_a_message_there_is_no_task(kind):
    async def both(stage: Stage) -> None:
        await stage.queue.enqueue_event(remark("one"))
        await stage.task()
        await stage.status(COMPLETED)

    async with opened(kind, both) as desk:
        events = await read_on(desk.streaming(asking()))
        assert [type(event) for event in events] == [pb.Message]


@duty()
async def test_after_a_task_there_is_no_bare_message(kind):
    async def both(stage: Stage) -> None:
        await stage.task()
        await stage.queue.enqueue_event(remark("one"))
        await stage.status(COMPLETED)

    async with opened(kind, both) as desk:
        events = await read_on(desk.streaming(asking(context_id="c")))
        assert not [event for event in events if isinstance(event, pb.Message)]
        (task,) = await desk.list(context_id="c")
        assert "one" not in said(task)


@duty()
async def test_a_status_without_a_task_is_not_told_and_its_caller_does_not_wait_for_ever(kind):
    async def early(stage: Stage) -> None:
        await stage.status(COMPLETED)

    async with opened(kind, early) as desk:
        events = await read_on(desk.streaming(asking(context_id="c")))
        assert not events or isinstance(events[0], pb.Task)
        await ended(desk.send(context_id="c"))
        assert COMPLETED not in [task.status.state for task in await desk.list(context_id="c")]


@duty()
async def test_a_task_that_is_told_again_changes_nothing(kind):
    async def again(stage: Stage) -> None:
        await stage.task()
        await stage.chunk("kept", append=False, last=True)
        assert stage.context.message is not None
        replaced = new_task_from_user_message(stage.context.message)
        replaced.history.append(remark("foisted"))
        await stage.queue.enqueue_event(replaced)
        await stage.status(COMPLETED)

    async with opened(kind, again) as desk:
        task = await desk.send("hi")
        assert (task.status.state, texts(task), said(task)) == (COMPLETED, ["kept"], ["hi"])


@duty()
async def test_an_event_of_another_task_does_not_change_that_task(kind):
    async def foreign(stage: Stage) -> None:
        if stage.context.get_user_input() == "victim":
            await stage.task()
            await stage.status(TaskState.TASK_STATE_INPUT_REQUIRED)
            return
        await stage.task()
        await stage.queue.enqueue_event(
            pb.TaskStatusUpdateEvent(
                task_id=stage.context.get_user_input(), context_id="c", status=pb.TaskStatus(state=COMPLETED)
            )
        )

    async with opened(kind, foreign) as desk:
        victim = await desk.send("victim")
        events = await read_on(desk.streaming(asking(victim.id)))
        assert COMPLETED not in states(events)
        assert (await desk.get(victim.id)).status.state == TaskState.TASK_STATE_INPUT_REQUIRED


@duty()
async def test_the_message_of_a_status_joins_the_history_when_the_next_status_comes(kind):
    async def remarks(stage: Stage) -> None:
        await stage.task()
        await tell(stage, WORKING, message=remark("looking"))
        await tell(stage, COMPLETED, message=remark("done"))

    async with opened(kind, remarks) as desk:
        task = await desk.send("hi")
        assert said(task) == ["hi", "looking"]
        assert task.status.message.message_id == "done"


@duty()
async def test_metadata_of_statuses_are_merged_into_the_tasks(kind):
    async def noted(stage: Stage) -> None:
        await stage.task()
        await tell(stage, WORKING, metadata={"a": "1", "b": "1"})
        await tell(stage, COMPLETED, metadata={"b": "2"})

    async with opened(kind, noted) as desk:
        assert MessageToDict((await desk.send()).metadata) == {"a": "1", "b": "2"}


@duty()
async def test_chunks_of_an_artifact_are_appended_and_a_new_beginning_replaces_it(kind):
    async def chunks(stage: Stage) -> None:
        await stage.task()
        for text, append in (("one ", False), ("two ", True), ("again ", False), ("three", True)):
            await stage.chunk(text, append=append)
        await stage.chunk("apart", append=False, artifact="other")
        await stage.status(COMPLETED)

    async with opened(kind, chunks) as desk:
        assert texts(await desk.send()) == ["again three", "apart"]


@duty(sdk_breaks="a status without a time is stored without one, and sorts after all others in a list")
async def test_a_status_without_a_time_is_given_one(kind):
    async def untimed(stage: Stage) -> None:
        await stage.task()
        await stage.status(COMPLETED)

    async with opened(kind, untimed) as desk:
        assert (await desk.send()).status.HasField("timestamp")


@duty(sdk_breaks="what follows a terminal status is told to streams, and stored")
async def test_nothing_follows_a_terminal_status(kind):
    async def babble(stage: Stage) -> None:
        await stage.task()
        await stage.status(COMPLETED)
        await stage.chunk("late", append=False)
        await stage.status(TaskState.TASK_STATE_FAILED)

    async with opened(kind, babble) as desk:
        events = await read_on(desk.streaming(asking(context_id="c")))
        assert states(events)[-1] == COMPLETED
        assert isinstance(events[-1], pb.TaskStatusUpdateEvent)
        (task,) = await desk.list(context_id="c", include_artifacts=True)
        assert (task.status.state, texts(task)) == (COMPLETED, [])


@duty(sdk_breaks="what follows a question is told and stored, and the task works on unasked")
@pytest.mark.parametrize("state", [TaskState.TASK_STATE_INPUT_REQUIRED, TaskState.TASK_STATE_AUTH_REQUIRED])
async def test_nothing_follows_a_question(kind, state):
    async def talk_on(stage: Stage) -> None:
        await stage.task()
        await stage.status(state)
        await stage.chunk("still talking", append=False)
        await stage.status(WORKING)

    async with opened(kind, talk_on) as desk:
        assert states(await read_on(desk.streaming(asking(context_id="c"))))[-1] == state
        (task,) = await desk.list(context_id="c", include_artifacts=True)
        assert (task.status.state, texts(task)) == (state, [])


@duty(sdk_breaks="a task goes back from working to submitted")
async def test_a_working_task_does_not_become_submitted_again(kind):
    async def back(stage: Stage) -> None:
        await stage.task()
        await stage.status(WORKING)
        await stage.status(TaskState.TASK_STATE_SUBMITTED)
        await stage.status(COMPLETED)

    async with opened(kind, back) as desk:
        assert states(await desk.stream())[1:] == [WORKING, COMPLETED]
