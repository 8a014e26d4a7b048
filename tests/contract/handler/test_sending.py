"""How a message finds or begins its task, and when its sender is answered."""

from __future__ import annotations

import asyncio
from contextvars import ContextVar

import pytest
from a2a.types import a2a_pb2 as pb
from a2a.types.a2a_pb2 import TaskState
from a2a.utils.errors import InvalidParamsError, TaskNotFoundError, UnsupportedOperationError

from tests.contract.handler.kinds import SECONDS, asking, duty, ended, opened, read, said, states, texts
from tests.e2e.wire.agents import Stage, echo
from tests.e2e.wire.test_life_cycle import Gate, ask

WORKING = TaskState.TASK_STATE_WORKING
COMPLETED = TaskState.TASK_STATE_COMPLETED
INPUT_REQUIRED = TaskState.TASK_STATE_INPUT_REQUIRED
SUBMITTED = TaskState.TASK_STATE_SUBMITTED


@duty()
async def test_a_message_to_an_unknown_task_is_refused(kind):
    async with opened(kind, echo) as desk:
        with pytest.raises(TaskNotFoundError):
            await desk.send(task_id="nobody")
        assert desk.agent.seen == []


@duty()
async def test_a_message_with_another_context_than_its_task_is_refused(kind):
    async with opened(kind, ask) as desk:
        asked = await desk.send()
        with pytest.raises(InvalidParamsError):
            await desk.send(task_id=asked.id, context_id="another")
        assert len(desk.agent.seen) == 1


@duty()
async def test_a_message_to_a_task_that_has_ended_is_refused(kind):
    async with opened(kind, echo) as desk:
        task = await desk.send()
        with pytest.raises(UnsupportedOperationError):
            await desk.send(task_id=task.id, context_id=task.context_id)
        assert len(desk.agent.seen) == 1


@duty(sdk_breaks="a follow-up that names no context is given a new one, and its agent another conversation")
async def test_a_follow_up_is_in_the_context_of_its_task(kind):
    async with opened(kind, ask) as desk:
        asked = await desk.send()
        answered = await desk.send("blue", task_id=asked.id)
        assert answered.context_id == asked.context_id
        assert desk.agent.seen[1].context_id == asked.context_id


@duty()
async def test_a_message_without_ids_is_given_them(kind):
    async with opened(kind, echo) as desk:
        first, second = await desk.send(), await desk.send()
        assert all((first.id, first.context_id, second.id, second.context_id))
        assert (first.id, first.context_id) != (second.id, second.context_id)
        seen = desk.agent.seen[0]
        assert (seen.task_id, seen.context_id) == (first.id, first.context_id)
        assert seen.message is not None
        assert (seen.message.task_id, seen.message.context_id) == (first.id, first.context_id)


@duty()
async def test_a_context_that_the_client_names_is_kept(kind):
    async with opened(kind, echo) as desk:
        assert (await desk.send(context_id="mine")).context_id == "mine"


@duty()
async def test_at_most_one_message_of_a_task_is_worked_on_at_a_time(kind):
    gate = Gate()
    running: list[int] = []

    async def count(stage: Stage) -> None:
        running.append(len(running))
        try:
            await (ask(stage) if stage.context.current_task is None else gate(stage))
        finally:
            running.pop()

    async with opened(kind, count) as desk:
        asked = await desk.send()
        where = {"task_id": asked.id, "context_id": asked.context_id}
        replies = [asyncio.create_task(ended(desk.send(text, **where))) for text in ("a", "b")]
        async with asyncio.timeout(SECONDS):
            await gate.entered.wait()
            assert len(running) == 1
            gate.open.set()
            await asyncio.gather(*replies)
        assert (await desk.get(asked.id)).status.state == COMPLETED


@duty(sdk_breaks="it is queued behind the first one, and forgotten when that ends the task")
async def test_a_message_to_a_task_that_works_is_refused_and_not_lost(kind):
    gate = Gate()
    async with opened(kind, gate) as desk:
        task = await desk.start()
        await gate.entered.wait()
        with pytest.raises(UnsupportedOperationError):
            await desk.send("wait", task_id=task.id, context_id=task.context_id)
        gate.open.set()
        assert texts(await desk.reached(task.id, COMPLETED)) == ["done"]


@duty()
async def test_the_message_of_a_follow_up_is_in_the_history_once(kind):
    async with opened(kind, ask) as desk:
        asked = await desk.send("first")
        assert said(asked) == ["first"]
        answered = await desk.send("second", task_id=asked.id, context_id=asked.context_id)
        assert said(answered) == ["first", "second"]
        assert said(await desk.get(asked.id)) == ["first", "second"]


@duty()
async def test_return_immediately_answers_with_the_first_event_and_the_work_goes_on(kind):
    gate = Gate()
    async with opened(kind, gate) as desk:
        task = await desk.start()
        assert task.status.state in {SUBMITTED, WORKING}
        gate.open.set()
        assert texts(await desk.reached(task.id, COMPLETED)) == ["done"]


@duty()
async def test_a_blocking_call_ends_with_the_task(kind):
    async with opened(kind, echo) as desk:
        task = await desk.send("hello")
        assert (task.status.state, texts(task)) == (COMPLETED, ["hello"])


@duty()
@pytest.mark.parametrize("state", [INPUT_REQUIRED, TaskState.TASK_STATE_AUTH_REQUIRED])
async def test_a_blocking_call_ends_where_the_task_waits_for_its_user(kind, state):
    async def wait(stage: Stage) -> None:
        await stage.task()
        await stage.status(state)

    async with opened(kind, wait) as desk:
        assert (await desk.send()).status.state == state


@duty()
async def test_a_stream_begins_with_the_task_and_ends_with_its_last_event(kind):
    async with opened(kind, echo) as desk:
        events = await desk.stream("hello")
        assert isinstance(events[0], pb.Task)
        assert isinstance(events[2], pb.TaskArtifactUpdateEvent)
        assert states(events) == [SUBMITTED, WORKING, COMPLETED]


@duty(sdk_breaks="begins with a status, where the specification wants the task first")
async def test_a_stream_of_a_follow_up_begins_with_its_task_and_tells_only_what_is_new(kind):
    async with opened(kind, ask) as desk:
        asked = (await desk.stream())[0]
        assert isinstance(asked, pb.Task)
        events = await desk.stream("blue", task_id=asked.id, context_id=asked.context_id)
        assert isinstance(events[0], pb.Task)
        assert (events[0].id, len(events[0].artifacts)) == (asked.id, 0)
        assert states(events) == [WORKING, WORKING, COMPLETED]


@duty()
async def test_a_streamed_and_a_blocking_call_end_in_the_same_task(kind):
    async with opened(kind, echo) as desk:
        first = (await desk.stream("hello"))[0]
        assert isinstance(first, pb.Task)
        streamed, sent = await desk.get(first.id), await desk.send("hello")
        assert streamed.artifacts == sent.artifacts
        assert streamed.status.state == sent.status.state


@duty()
async def test_who_leaves_a_stream_does_not_stop_the_task(kind):
    gate = Gate()
    async with opened(kind, gate) as desk:
        events = desk.streaming(asking())
        task = await anext(events)
        assert isinstance(task, pb.Task)
        await gate.entered.wait()
        await events.aclose()
        gate.open.set()
        assert texts(await desk.reached(task.id, COMPLETED)) == ["done"]


@duty()
async def test_who_gives_up_a_blocking_call_does_not_stop_the_task(kind):
    gate = Gate()
    async with opened(kind, gate) as desk:
        call = asyncio.create_task(desk.send(context_id="c"))
        await gate.entered.wait()
        call.cancel()
        await asyncio.wait([call])
        gate.open.set()
        (task,) = await desk.list(context_id="c")
        assert texts(await desk.reached(task.id, COMPLETED)) == ["done"]


CALLER: ContextVar[str] = ContextVar("CALLER", default="")


@duty()
async def test_the_agent_runs_in_the_context_variables_of_the_one_who_sent_the_message(kind):
    heard: list[str] = []

    async def hear(stage: Stage) -> None:
        heard.append(CALLER.get())
        await ask(stage)

    async with opened(kind, hear) as desk:
        CALLER.set("first")
        asked = await desk.send()
        CALLER.set("second")
        await desk.send(task_id=asked.id, context_id=asked.context_id)
    assert heard == ["first", "second"]


@duty()
async def test_an_answer_of_one_message_has_no_task(kind):
    async def answer(stage: Stage) -> None:
        await stage.queue.enqueue_event(
            pb.Message(message_id="m", role=pb.Role.ROLE_AGENT, parts=[pb.Part(text="Hello.")])
        )

    async with opened(kind, answer) as desk:
        sent, streamed = await desk.send(), await desk.stream()
        assert isinstance(sent, pb.Message)
        assert [type(event) for event in streamed] == [pb.Message]
        assert sent.parts[0].text == "Hello."
        assert await desk.list() == []


@duty()
async def test_two_readers_of_one_task_get_every_event_each(kind):
    gate = Gate()
    async with opened(kind, gate) as desk:
        events = desk.streaming(asking())
        task = await anext(events)
        assert isinstance(task, pb.Task)
        await gate.entered.wait()
        other = desk.following(task.id)
        assert isinstance(await anext(other), pb.Task)
        rest = [asyncio.create_task(read(each)) for each in (events, other)]
        await asyncio.sleep(0)
        gate.open.set()
        first, second = await asyncio.gather(*rest)
        assert states(first)[-1] == states(second)[-1] == COMPLETED
        assert [e for e in first if isinstance(e, pb.TaskArtifactUpdateEvent)] == [
            e for e in second if isinstance(e, pb.TaskArtifactUpdateEvent)
        ]
