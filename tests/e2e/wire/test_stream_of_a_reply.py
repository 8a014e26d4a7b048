"""The stream that answers a message to a waiting task begins with the task, as every stream does."""

from __future__ import annotations

import json

import pytest
from a2a.types.a2a_pb2 import TaskState

from tests.e2e.wire.agents import Stage
from tests.e2e.wire.wiring import message, serving, state


async def asks_which_colour(stage: Stage) -> None:
    """Asks once, with an artifact; then says what it was told, and ends as the words say."""
    if stage.context.current_task is None:
        await stage.task()
        await stage.chunk("what is known", append=False, artifact="early", last=True)
        await stage.status(TaskState.TASK_STATE_INPUT_REQUIRED)
        return
    if stage.context.get_user_input() == "fail at once":
        await stage.status(TaskState.TASK_STATE_FAILED)
        return
    await stage.status(TaskState.TASK_STATE_WORKING)
    await stage.chunk(stage.context.get_user_input(), append=False, last=True)
    await stage.status(TaskState.TASK_STATE_COMPLETED)


async def test_a_reply_is_streamed_from_its_task_to_its_end():
    async with serving(asks_which_colour) as wire:
        asked = await wire.send()
        events = await wire.stream(text="blue", taskId=asked["id"], contextId=asked["contextId"])
        assert [next(iter(event)) for event in events] == [
            "task",
            "statusUpdate",
            "artifactUpdate",
            "statusUpdate",
        ]
        task = events[0]["task"]
        assert (task["id"], task["contextId"], state(task)) == (asked["id"], asked["contextId"], "working")
        assert "message" not in task["status"]
        assert [each["parts"][0]["text"] for each in task["history"]] == ["hi", "blue"]
        assert state(events[-1]["statusUpdate"]) == "completed"


async def test_artifacts_of_earlier_turns_are_not_told_again():
    async with serving(asks_which_colour) as wire:
        asked = await wire.send()
        events = await wire.stream(text="blue", taskId=asked["id"], contextId=asked["contextId"])
        assert "artifacts" not in events[0]["task"]
        stored = await wire.get(asked["id"])
        assert [each["artifactId"] for each in stored["artifacts"]] == ["early", "response"]


async def test_a_task_that_fails_at_once_is_told_before_its_end():
    async with serving(asks_which_colour) as wire:
        asked = await wire.send()
        events = await wire.stream(text="fail at once", taskId=asked["id"], contextId=asked["contextId"])
        assert state(events[0]["task"]) == "working"
        assert [state(event["statusUpdate"]) for event in events[1:]] == ["failed"]


@pytest.mark.parametrize("length", [0, 1])
async def test_the_task_has_the_history_that_was_asked_for(length):
    async with serving(asks_which_colour) as wire:
        asked = await wire.send()
        reply = message("blue", taskId=asked["id"], contextId=asked["contextId"])
        params = {"message": reply, "configuration": {"historyLength": length}}
        async with wire.events("SendStreamingMessage", params) as events:
            task = (await anext(events))["task"]
        assert [each["parts"][0]["text"] for each in task.get("history", [])] == ["blue"][:length]


async def test_a_reply_of_protocol_0_3_is_streamed_from_its_task_too():
    async with serving(asks_which_colour) as wire:
        asked = await wire.send()
        reply = {"messageId": "r", "role": "ROLE_USER", "content": [{"text": "blue"}]}
        body = {"message": {**reply, "taskId": asked["id"], "contextId": asked["contextId"]}}
        answer = await wire.http.post(
            f"{wire.url}/rest/v1/message:stream", json=body, headers={"A2A-Version": "0.3"}
        )
        events = [json.loads(line[5:]) for line in answer.text.splitlines() if line.startswith("data:")]
        assert next(iter(events[0])) == "task"


async def test_a_reply_that_is_sent_twice_is_streamed_from_its_task_again():
    async with serving(asks_which_colour) as wire:
        asked = await wire.send()
        reply = {"messageId": "r", "text": "blue", "taskId": asked["id"], "contextId": asked["contextId"]}
        await wire.stream(**reply)
        again = await wire.stream(**reply)
        assert [next(iter(event)) for event in again] == ["task"]
        assert state(again[0]["task"]) == "completed"
