"""A message that is sent again is answered with its task, and runs once; one that failed retryably runs again.

The SDK's handler gives every message a task of its own.
"""

from __future__ import annotations

import asyncio

import pytest
from a2a.types import a2a_pb2 as pb
from a2a.types.a2a_pb2 import TaskState

from tests.contract.handler.kinds import Desk, asking, opened, read, states, texts
from tests.e2e.wire.agents import Stage, echo
from tests.e2e.wire.test_life_cycle import Gate, ask
from tests.e2e.wire.test_push import Hook, listening
from utils.a2a_common.protocol.extensions import ERROR_EXTENSION, error_payload
from utils.events import Failed

COMPLETED = TaskState.TASK_STATE_COMPLETED
FAILED = TaskState.TASK_STATE_FAILED


async def test_a_message_that_is_sent_again_is_answered_with_its_task_and_runs_once():
    async with opened("ours", echo) as desk:
        request = asking("hello", context_id="c")
        first, again = await desk.request(request), await desk.request(request)
        assert first == again
        (streamed,) = await read(desk.streaming(request))
        assert streamed == first
        assert len(desk.agent.seen) == 1


async def test_a_message_that_is_sent_twice_at_once_runs_once():
    gate = Gate()
    async with opened("ours", gate) as desk:
        request = asking("hello", context_id="c")
        sent = [asyncio.create_task(desk.request(request)) for _ in range(3)]
        streamed = asyncio.create_task(read(desk.streaming(request)))
        await gate.entered.wait()
        gate.open.set()
        tasks = await asyncio.gather(*sent)
        assert {task.id for task in tasks} == {tasks[0].id}
        assert [texts(task) for task in tasks] == [["done"]] * 3
        assert states(await streamed)[-1] == COMPLETED
        assert len(desk.agent.seen) == 1


async def test_an_answer_to_a_question_that_is_sent_again_runs_once():
    async with opened("ours", ask) as desk:
        asked = await desk.send()
        request = asking("blue", task_id=asked.id)
        answers = await asyncio.gather(*(desk.request(request) for _ in range(3)))
        assert {answer.status.state for answer in answers} == {COMPLETED}
        assert len(desk.agent.seen) == 2


@pytest.mark.listens
async def test_a_webhook_that_comes_with_a_repeated_message_is_sent_the_question_that_waits():
    hook = Hook()
    async with listening(hook) as url, opened("ours", ask) as desk:
        request = asking()
        await desk.request(request)
        request.configuration.task_push_notification_config.url = url
        await desk.request(request)
        await hook.heard(1)
    ((_, body),) = hook.requests
    assert body["statusUpdate"]["status"]["state"] == "TASK_STATE_INPUT_REQUIRED"


class Failing:
    """Fails some times, and then answers."""

    def __init__(self, times: int, *, retryable: bool) -> None:
        self._left = times
        self._failure = Failed("upstream_unavailable", "Not now.", retryable=retryable)

    async def __call__(self, stage: Stage) -> None:
        if not self._left:
            await echo(stage)
            return
        self._left -= 1
        await stage.task()
        event = pb.TaskStatusUpdateEvent(
            task_id=stage.context.task_id,
            context_id=stage.context.context_id,
            status=pb.TaskStatus(state=FAILED),
            metadata={ERROR_EXTENSION: error_payload(self._failure, "")},
        )
        await stage.queue.enqueue_event(event)


@pytest.mark.parametrize("context_id", ["", "c"])
async def test_a_message_whose_task_failed_retryably_runs_again_as_a_new_task(context_id):
    async with opened("ours", Failing(2, retryable=True)) as desk:
        request = asking("hello", context_id=context_id)
        tasks = [await desk.request(request) for _ in range(4)]
        assert [task.status.state for task in tasks] == [FAILED, FAILED, COMPLETED, COMPLETED]
        assert len({task.id for task in tasks[:3]}) == 3
        assert tasks[3] == tasks[2]
        assert len(desk.agent.seen) == 3


async def test_a_message_whose_task_failed_for_good_does_not_run_again():
    async with opened("ours", Failing(1, retryable=False)) as desk:
        request = asking("hello", context_id="c")
        first, again = await desk.request(request), await desk.request(request)
        assert first == again
        assert len(desk.agent.seen) == 1


async def test_a_caller_that_leaves_at_once_holds_up_nobody_who_sends_the_same_message():
    async with opened("ours", echo) as desk:
        for turns in range(12):  # the call is given up at each of its first steps
            request = asking(str(turns), context_id="c")
            first = asyncio.create_task(desk.request(request))
            for _ in range(turns):
                await asyncio.sleep(0)
            first.cancel()
            await asyncio.wait([first])
            assert (await desk.request(request)).status.state == COMPLETED
        assert len(desk.agent.seen) == 12


async def said_by(desk: Desk, request: pb.SendMessageRequest) -> str:
    task: pb.Task = await desk.request(request)
    return task.id


async def test_the_same_message_of_two_users_or_with_other_words_is_another_task():
    async with opened("ours", echo) as desk:
        known = asking("hello", context_id="c", message_id="1")
        other = asking("good-bye", context_id="c", message_id="1")
        ids = [await said_by(desk, known), await said_by(desk, other), await said_by(desk.by("bob"), known)]
        assert len(set(ids)) == 3
