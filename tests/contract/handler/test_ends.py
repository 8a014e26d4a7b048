"""How a task ends that its agent does not end, and how one is canceled or followed."""

from __future__ import annotations

import asyncio

import pytest
from a2a.types import a2a_pb2 as pb
from a2a.types.a2a_pb2 import TaskState
from a2a.utils.errors import TaskNotCancelableError, TaskNotFoundError, UnsupportedOperationError

from tests.contract.handler.kinds import SECONDS, asking, duty, ended, opened, read, read_on, states, texts
from tests.e2e.wire.agents import Scripted, Stage, echo
from tests.e2e.wire.test_life_cycle import Gate, ask, explode, explode_at_once, left_working, nothing

WORKING = TaskState.TASK_STATE_WORKING
COMPLETED = TaskState.TASK_STATE_COMPLETED
FAILED = TaskState.TASK_STATE_FAILED
CANCELED = TaskState.TASK_STATE_CANCELED


@duty()
@pytest.mark.parametrize("script", [explode, explode_at_once])
async def test_an_agent_that_raises_leaves_a_failed_task(kind, script):
    async with opened(kind, script) as desk:
        await ended(desk.send(context_id="sent"))
        await ended(desk.stream(context_id="streamed"))
        for context in ("sent", "streamed"):
            (task,) = await desk.list(context_id=context)
            assert task.status.state == FAILED


@duty(sdk_breaks="the text of the exception is the error that the caller gets")
@pytest.mark.parametrize("script", [explode, explode_at_once])
async def test_the_text_of_an_exception_is_not_shown(kind, script):
    async with opened(kind, script) as desk:
        task = await desk.send()
        assert task.status.state == FAILED
        assert "hunter2" not in str(task)
        assert "hunter2" not in str(await desk.stream())


@duty(sdk_breaks="who waits for an agent that returned without a word waits for ever")
async def test_an_agent_that_says_nothing_leaves_a_failed_task(kind):
    async with opened(kind, nothing) as desk, asyncio.timeout(1 if kind == "sdk" else 60):
        assert (await desk.send()).status.state == FAILED


@duty(sdk_breaks="the task of an agent that returned without an end works for ever")
async def test_an_agent_that_returns_without_an_end_leaves_a_failed_task(kind):
    async with opened(kind, left_working) as desk:
        assert (await desk.send()).status.state == FAILED


class Cancelling(Scripted):
    """Notes the order of what happens in a cancel."""

    def __init__(self) -> None:
        super().__init__(self.work)
        self.order: list[str] = []
        self.entered = asyncio.Event()

    async def work(self, stage: Stage) -> None:
        await stage.task()
        await stage.status(WORKING)
        self.entered.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.order.append("run cancelled")
            await stage.chunk("too late", append=False)
            raise

    async def cancel(self, context, event_queue) -> None:
        self.order.append("executor told")
        await super().cancel(context, event_queue)


@duty()
async def test_a_cancel_tells_the_agent_then_stops_its_run_and_ends_the_task(kind):
    agent = Cancelling()
    async with opened(kind, echo, agent=agent) as desk:
        task = await desk.start()
        await agent.entered.wait()
        assert (await desk.cancel(task.id)).status.state == CANCELED
        assert agent.order == ["executor told", "run cancelled"]
        assert (await desk.get(task.id)).status.state == CANCELED


@duty(sdk_breaks="what the run says while it is being stopped is told and stored")
async def test_what_a_run_says_while_it_is_being_stopped_is_not_kept(kind):
    agent = Cancelling()
    async with opened(kind, echo, agent=agent) as desk:
        task = await desk.start()
        await agent.entered.wait()
        await desk.cancel(task.id)
        assert texts(await desk.get(task.id)) == []


class Ending(Cancelling):
    """Ends its task by itself when it is told of a cancel."""

    async def cancel(self, context, event_queue) -> None:
        await super().cancel(context, event_queue)
        await Stage(context, event_queue).chunk("half", append=False)
        await Stage(context, event_queue).status(CANCELED)


@duty()
async def test_what_the_agent_says_when_it_is_told_of_a_cancel_is_kept(kind):
    agent = Ending()
    async with opened(kind, echo, agent=agent) as desk:
        task = await desk.start()
        await agent.entered.wait()
        cancelled = await desk.cancel(task.id)
        assert (cancelled.status.state, texts(await desk.get(task.id))) == (CANCELED, ["half"])


@duty(sdk_breaks="a stream ends without the status where the agent did not write it")
async def test_the_stream_of_a_canceled_task_ends_with_that_status(kind):
    agent = Cancelling()
    async with opened(kind, echo, agent=agent) as desk:
        events = desk.streaming(asking())
        task = await anext(events)
        assert isinstance(task, pb.Task)
        await agent.entered.wait()
        reading = asyncio.create_task(read_on(events))
        await desk.cancel(task.id)
        assert states(await reading)[-1] == CANCELED


@duty()
async def test_a_task_that_waits_for_its_user_can_be_canceled(kind):
    async with opened(kind, ask) as desk:
        asked = await desk.send()
        assert (await desk.cancel(asked.id)).status.state == CANCELED
        assert (await desk.get(asked.id)).status.state == CANCELED


@duty()
async def test_a_task_that_has_ended_or_is_unknown_is_not_canceled(kind):
    async with opened(kind, echo) as desk:
        task = await desk.send()
        with pytest.raises(TaskNotCancelableError):
            await desk.cancel(task.id)
        with pytest.raises(TaskNotFoundError):
            await desk.cancel("nobody")


@duty()
async def test_cancels_that_come_at_once_are_all_answered(kind):
    agent = Cancelling()
    async with opened(kind, echo, agent=agent) as desk:
        task = await desk.start()
        await agent.entered.wait()
        cancels = [asyncio.create_task(desk.cancel(task.id)) for _ in range(3)]
        for canceled in await asyncio.gather(*cancels):
            assert canceled.status.state == CANCELED
        assert (await desk.get(task.id)).status.state == CANCELED


@duty()
async def test_a_subscriber_gets_the_task_first_and_then_what_is_new(kind):
    gate = Gate()
    async with opened(kind, gate) as desk:
        task = await desk.start()
        await desk.reached(task.id, WORKING)
        events = desk.following(task.id)
        first = await anext(events)
        assert isinstance(first, pb.Task)
        assert first.status.state == WORKING
        rest = asyncio.create_task(read(events))
        await asyncio.sleep(0)
        gate.open.set()
        assert states(await rest)[-1] == COMPLETED


@duty(sdk_breaks="what is in the snapshot, and was not dispatched to subscribers yet, is told again")
async def test_a_subscriber_is_told_nothing_twice_and_misses_nothing(kind):
    chunks = [f"{index} " for index in range(40)]
    half, go_on = asyncio.Event(), asyncio.Event()

    async def talk(stage: Stage) -> None:
        await stage.task()
        for index, text in enumerate(chunks):
            if index == 20:
                half.set()
                await go_on.wait()
            await stage.chunk(text, append=index > 0)
        await stage.status(COMPLETED)

    async with opened(kind, talk) as desk:
        task = await desk.start()
        await half.wait()
        while len("".join(texts(await desk.get(task.id))).split()) < 20:
            await asyncio.sleep(0)
        events = desk.following(task.id)
        first = await anext(events)
        assert isinstance(first, pb.Task)
        following = asyncio.create_task(read(events))
        await asyncio.sleep(0)
        go_on.set()
        rest = await following
        new = [e.artifact.parts[0].text for e in rest if isinstance(e, pb.TaskArtifactUpdateEvent)]
        assert "".join(texts(first) + new) == "".join(chunks)


@duty()
async def test_nobody_can_subscribe_to_a_task_that_has_ended_or_is_unknown(kind):
    async with opened(kind, echo) as desk:
        task = await desk.send()
        with pytest.raises(UnsupportedOperationError):
            await read(desk.following(task.id))
        with pytest.raises(TaskNotFoundError):
            await read(desk.following("nobody"))


@duty()
async def test_a_subscriber_that_leaves_leaves_nothing_behind(kind):
    gate = Gate()
    async with opened(kind, gate) as desk:
        task = await desk.start()
        await gate.entered.wait()
        before = len(asyncio.all_tasks())
        events = desk.following(task.id)
        await anext(events)
        await events.aclose()
        async with asyncio.timeout(SECONDS):
            while len(asyncio.all_tasks()) > before:
                await asyncio.sleep(0)
        gate.open.set()
        await desk.reached(task.id, COMPLETED)
