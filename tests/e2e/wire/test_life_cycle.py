"""How a task begins, changes and ends."""

import asyncio
from typing import Any

import pytest
from a2a.types.a2a_pb2 import TaskState

from tests.e2e.wire.agents import Stage, echo
from tests.e2e.wire.wiring import message, serving, state

WORKING = TaskState.TASK_STATE_WORKING
COMPLETED = TaskState.TASK_STATE_COMPLETED
INPUT_REQUIRED = TaskState.TASK_STATE_INPUT_REQUIRED
ERROR = "urn:platform-engineer:ext:error:v1"


async def nothing(stage: Stage) -> None:
    del stage


async def left_working(stage: Stage) -> None:
    await stage.task()
    await stage.status(WORKING)


async def explode(stage: Stage) -> None:
    await stage.task()
    await stage.status(WORKING)
    raise RuntimeError("secret: db password hunter2")


async def explode_at_once(stage: Stage) -> None:
    raise RuntimeError("secret: db password hunter2")


async def babble(stage: Stage) -> None:
    await echo(stage)
    await stage.status(WORKING)
    await stage.chunk("late", append=False, artifact="late")
    await stage.status(TaskState.TASK_STATE_FAILED)


async def step_back(stage: Stage) -> None:
    await stage.task()
    await stage.status(WORKING)
    await stage.status(TaskState.TASK_STATE_SUBMITTED)
    await stage.status(COMPLETED)


async def ask(stage: Stage) -> None:
    """Asks once; answers what it is told. Talks on after its question, which must not be heard."""
    if stage.context.current_task is None:
        await stage.task()
        await stage.status(INPUT_REQUIRED)
        await stage.chunk("still talking", append=False, artifact="after the question")
    else:
        await echo(stage)


class Gate:
    """An agent that works until it is let go."""

    def __init__(self) -> None:
        self.open = asyncio.Event()
        self.entered = asyncio.Event()

    async def __call__(self, stage: Stage) -> None:
        await stage.task()
        await stage.status(WORKING)
        self.entered.set()
        await self.open.wait()
        await stage.chunk("done", append=False, last=True)
        await stage.status(COMPLETED)


class Lingering:
    """An agent that has ended its task and has not returned yet."""

    def __init__(self) -> None:
        self.gone = asyncio.Event()

    async def __call__(self, stage: Stage) -> None:
        await echo(stage)
        await self.gone.wait()


@pytest.mark.parametrize("script", [nothing, left_working])
async def test_an_executor_that_ends_without_an_answer_fails_its_task(script):
    async with serving(script) as wire, asyncio.timeout(60):
        task = await wire.send()
        assert state(task) == "failed"
        assert task["metadata"][ERROR]["code"] == "no_answer"
        streamed = await wire.stream()
        assert "task" in streamed[0]
        assert state(streamed[-1]["statusUpdate"]) == "failed"


@pytest.mark.parametrize("script", [explode, explode_at_once])
async def test_an_exceptions_text_never_reaches_a_client(script):
    async with serving(script) as wire:
        task = await wire.send()
        streamed = await wire.stream()
        stored = await wire.get(task["id"])
        listed = await wire.rpc("ListTasks", {"includeArtifacts": True})
        for shown in (task, streamed, stored, listed):
            assert "hunter2" not in str(shown)
            assert "RuntimeError" not in str(shown)
        assert state(task) == state(stored) == "failed"
        assert task["metadata"][ERROR]["code"] == "internal_error"


async def test_nothing_follows_a_terminal_state():
    async with serving(babble) as wire:
        streamed = await wire.stream(text="hello")
        assert [name for event in streamed for name in event] == [
            "task", "statusUpdate", "artifactUpdate", "statusUpdate",
        ]  # fmt: skip
        task = await wire.get(streamed[0]["task"]["id"])
        assert state(task) == "completed"
        assert [artifact["artifactId"] for artifact in task["artifacts"]] == ["response"]


async def test_a_message_that_comes_again_while_its_executor_still_tidies_up_is_answered_with_its_task():
    agent = Lingering()
    said: dict[str, Any] = {"messageId": "m", "contextId": "c", "text": "hello"}
    async with serving(agent) as wire, asyncio.timeout(60):
        first = await wire.stream(**said)
        streamed = await wire.stream(**said)
        sent = await wire.send(**said)
        agent.gone.set()
    assert [state(each["task"]) for each in streamed] == ["completed"]
    assert streamed[0]["task"]["id"] == sent["id"] == first[0]["task"]["id"]
    assert sent["artifacts"][0]["parts"] == [{"text": "hello"}]


async def test_a_working_task_does_not_become_submitted_again():
    async with serving(step_back) as wire:
        states = [state(event["statusUpdate"]) for event in (await wire.stream())[1:]]
        assert states == ["working", "completed"]


async def test_nothing_follows_a_question_and_the_reply_resumes_the_task():
    async with serving(ask) as wire:
        streamed = await wire.stream()
        assert [name for event in streamed for name in event] == ["task", "statusUpdate"]
        assert state(streamed[-1]["statusUpdate"]) == "input_required"
        asked = await wire.get(streamed[0]["task"]["id"])
        assert state(asked) == "input_required"
        assert "artifacts" not in asked
        answered = await wire.send(text="blue", taskId=asked["id"], contextId=asked["contextId"])
        assert answered["id"] == asked["id"]
        assert state(answered) == "completed"
        assert [artifact["parts"] for artifact in answered["artifacts"]] == [[{"text": "blue"}]]


async def test_a_task_that_waits_costs_nothing_and_its_reply_is_taken():
    async with serving(ask) as wire:
        await wire.send(text="blue", taskId=(await wire.send())["id"])
        idle = len(asyncio.all_tasks())
        asked = await asyncio.gather(*(wire.send() for _ in range(20)))
        assert {state(task) for task in asked} == {"input_required"}
        async with asyncio.timeout(60):
            while len(asyncio.all_tasks()) > idle + 5:  # some connections more
                await asyncio.sleep(0.02)
        answers = [await wire.send(text="blue", taskId=task["id"]) for task in asked]
        assert {state(task) for task in answers} == {"completed"}
        assert [task["id"] for task in answers] == [task["id"] for task in asked]


async def test_a_reply_without_context_id_stays_in_the_context_of_its_task():
    async with serving(ask) as wire:
        asked = await wire.send()
        answered = await wire.send(text="blue", taskId=asked["id"])
        assert answered["contextId"] == asked["contextId"]
        assert wire.agent.seen[1].context_id == asked["contextId"]


async def test_a_reply_with_another_context_id_is_refused():
    async with serving(ask) as wire:
        asked = await wire.send()
        refused = await wire.send(text="blue", taskId=asked["id"], contextId="another")
        assert refused["error"]["code"] == -32602


async def test_a_context_id_of_the_client_is_kept():
    async with serving(echo) as wire:
        assert (await wire.send(contextId="mine"))["contextId"] == "mine"


async def test_an_unknown_task_id_is_not_found():
    async with serving(echo) as wire:
        assert (await wire.send(taskId="nope"))["error"]["code"] == -32001
        for method in ("GetTask", "CancelTask", "SubscribeToTask"):
            assert (await wire.rpc(method, {"id": "nope"}))["error"]["code"] == -32001


async def test_a_message_to_a_working_task_is_refused_and_not_lost():
    gate = Gate()
    async with serving(gate) as wire:
        task = await wire.start()
        await gate.entered.wait()
        refused = await wire.send(text="wait", taskId=task["id"])
        assert refused["error"]["code"] == -32004
        gate.open.set()
        async with asyncio.timeout(60):
            while state(await wire.get(task["id"])) != "completed":
                await asyncio.sleep(0)
        assert len(wire.agent.seen) == 1


async def test_of_two_replies_at_once_one_is_answered_and_one_refused():
    gate = Gate()

    async def ask_then_wait(stage: Stage) -> None:
        await (ask(stage) if stage.context.current_task is None else gate(stage))

    async with serving(ask_then_wait) as wire:
        asked = await wire.send()
        replies = [asyncio.create_task(wire.send(text=text, taskId=asked["id"])) for text in ("a", "b")]
        await gate.entered.wait()
        done, _ = await asyncio.wait(replies, return_when=asyncio.FIRST_COMPLETED)
        assert [reply.result()["error"]["code"] for reply in done] == [-32004]
        gate.open.set()
        results = await asyncio.gather(*replies)
        assert sorted("error" in result for result in results) == [False, True]


async def test_a_task_that_ended_takes_no_message_no_cancel_and_no_subscriber():
    async with serving(echo) as wire:
        task = await wire.send()
        assert (await wire.send(taskId=task["id"]))["error"]["code"] == -32004
        assert (await wire.rpc("CancelTask", {"id": task["id"]}))["error"]["code"] == -32002
        assert (await wire.rpc("SubscribeToTask", {"id": task["id"]}))["error"]["code"] == -32004


async def test_return_immediately_answers_before_the_end():
    gate = Gate()
    async with serving(gate) as wire:
        task = await wire.start()
        assert state(task) in {"submitted", "working"}
        gate.open.set()


async def test_a_cancel_ends_the_task_even_when_the_executor_says_nothing():
    gate = Gate()
    late = asyncio.Event()

    async def stubborn(stage: Stage) -> None:
        try:
            await gate(stage)
        except asyncio.CancelledError:
            await stage.chunk("too late", append=False)
            await stage.status(COMPLETED)
            late.set()
            raise

    async with serving(stubborn) as wire:
        async with wire.events("SendStreamingMessage", {"message": message()}) as events:
            task = (await anext(events))["task"]
            await gate.entered.wait()
            cancelled = (await wire.rpc("CancelTask", {"id": task["id"]}))["result"]
            rest = [event async for event in events]
        await late.wait()
        assert wire.agent.cancelled.is_set()
        assert state(cancelled) == state(await wire.get(task["id"])) == "canceled"
        assert "too late" not in str(rest)
        assert (await wire.rpc("CancelTask", {"id": task["id"]}))["error"]["code"] == -32002
        stored = await wire.get(task["id"])
    assert "too late" not in str(stored)
    assert state(stored) == "canceled"


async def test_a_vanished_client_does_not_stop_the_task():
    gate = Gate()
    async with serving(gate) as wire:
        async with wire.events("SendStreamingMessage", {"message": message()}) as events:
            task = (await anext(events))["task"]
        gate.open.set()
        async with asyncio.timeout(60):
            while state(await wire.get(task["id"])) != "completed":
                await asyncio.sleep(0)
