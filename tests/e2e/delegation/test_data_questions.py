"""Agents that ask with data: the question reaches a person in words and a program as data, and the answer goes back as it was sent."""

from __future__ import annotations

from typing import Any

import pytest
from a2a.types.a2a_pb2 import (
    Artifact,
    Message,
    Part,
    Role,
    TaskArtifactUpdateEvent,
    TaskStatus,
    TaskStatusUpdateEvent,
)
from google.protobuf import json_format

from tests.e2e.agents.peers import Answer, ask, connected, message
from tests.e2e.cli.scripted_agent import Turn
from tests.e2e.delegation.foreign import Foreign, foreign
from tests.e2e.delegation.teams import Middle, model, results, supervising
from utils.a2a_common.protocol.parts import data_part
from utils.testing.scripted_model import ScriptedModel, call, calls

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")

CALL = {"id": "call-1", "name": "ask_user", "args": {"question": "which colour?"}}
RESPONSE = {"id": "call-1", "name": "ask_user", "response": {"result": "blue"}}
ASKED, ANSWERED = {"kind": "function_call"}, {"kind": "function_response", "order": 1}


def marked(value: dict[str, Any], metadata: dict[str, Any]) -> Part:
    part = data_part(value)
    part.metadata.update(metadata)
    return part


async def calling(turn: Turn) -> None:
    """Asks with a call of a function, and goes on only with a part that is marked as its response."""
    await turn.task()
    sent = turn.context.message.parts if turn.context.message else ()
    found = [part for part in sent if part.metadata.fields["kind"].string_value == "function_response"]
    if found:
        await turn.chunk(
            f"painted {json_format.MessageToDict(found[0].data)['response']['result']}",
            append=False,
            last=True,
        )
        await turn.status("completed")
        return
    asks = Message(message_id="q", role=Role.ROLE_AGENT, parts=[marked(CALL, ASKED)])
    status = TaskStatus(state="TASK_STATE_INPUT_REQUIRED", message=asks)
    await turn.queue.enqueue_event(TaskStatusUpdateEvent(**turn.ids, status=status))


async def in_an_artifact(turn: Turn) -> None:
    """Asks in an artifact, after it has told of its progress."""
    await turn.task()
    if turn.context.current_task is not None:
        await turn.chunk(f"ordered {turn.text}", append=False, last=True, name="order")
        await turn.status("completed")
        return
    await turn.status("working", "looking at the shelves")
    held = Artifact(artifact_id="q", name="question", parts=[Part(text="which size: S or L?")])
    await turn.queue.enqueue_event(TaskArtifactUpdateEvent(**turn.ids, artifact=held))
    await turn.status("input_required")


def painting() -> ScriptedModel:
    return model([calls(call("painter", request="Paint it")), "Done."])


def reply(to: Answer, *parts: Part) -> Any:
    request = message("", task_id=to.task_id, context_id=to.context_id)
    request.message.ClearField("parts")
    request.message.parts.extend(parts)
    return request


def data_of(answer: Answer) -> list[dict[str, Any]]:
    parts = answer.events[-1].status_update.status.message.parts
    return [json_format.MessageToDict(part) for part in parts if part.HasField("data")]


def sent_data(agent: Foreign) -> list[dict[str, Any]]:
    return [part for part in agent.messages[-1]["parts"] if part.get("metadata")]


async def test_a_question_that_is_data_is_read_in_words_and_answered_with_data_as_its_agent_needs_it() -> (
    None
):
    script = painting()
    async with (
        foreign(calling) as painter,
        supervising({"painter": painter.url}, script) as url,
        connected(url) as client,
    ):
        asked = await ask(client, "Paint it")
        answer = Answer(
            [each async for each in client.send_message(reply(asked, marked(RESPONSE, ANSWERED)))]
        )
        sent = sent_data(painter)
    assert asked.state == "input_required"
    assert "args.question: which colour?" in asked.last_words
    assert data_of(asked) == [{"data": CALL, "metadata": ASKED, "mediaType": "application/json"}]
    assert sent == [{"data": RESPONSE, "metadata": ANSWERED, "mediaType": "application/json"}]
    assert (answer.state, answer.text) == ("completed", "Done.")
    assert results(script) == ["painted blue"]
    assert "function_response" not in str([request.messages for request in script.requests])


async def test_data_and_its_answer_pass_through_an_agent_in_between_and_are_told_once() -> None:
    middle = painting()
    top = model([calls(call("middle", request="Paint it")), "There."])
    async with (
        foreign(calling) as painter,
        supervising({"painter": painter.url}, middle, agent_class=Middle) as middle_url,
        supervising({"middle": middle_url}, top) as url,
        connected(url) as client,
    ):
        asked = await ask(client, "Paint it")
        answer = Answer(
            [each async for each in client.send_message(reply(asked, marked(RESPONSE, ANSWERED)))]
        )
    assert asked.last_words.count("which colour?") == 1
    assert [part["metadata"] for part in data_of(asked)] == [ASKED]
    assert (answer.state, answer.text) == ("completed", "There.")
    assert results(middle) == ["painted blue"]


async def test_words_for_an_agent_that_takes_data_alone_are_delivered_and_asked_for_again_in_plain_words() -> (
    None
):
    async with (
        foreign(calling) as painter,
        supervising({"painter": painter.url}, painting()) as url,
        connected(url) as client,
    ):
        asked = await ask(client, "Paint it")
        again = await ask(client, "blue", task_id=asked.task_id, context_id=asked.context_id)
        words = [part["text"] for part in painter.messages[-1]["parts"] if "text" in part]
    assert words == ["blue"]
    assert "may take no answer in words" in asked.last_words
    assert again.state == "input_required"
    assert data_of(again) == data_of(asked)


async def test_a_question_in_an_artifact_reaches_the_user_and_its_answer_the_agent() -> None:
    script = painting()
    async with (
        foreign(in_an_artifact) as painter,
        supervising({"painter": painter.url}, script) as url,
        connected(url) as client,
    ):
        asked = await ask(client, "Paint it")
        answer = await ask(client, "L", task_id=asked.task_id, context_id=asked.context_id)
    assert (asked.state, asked.last_words) == ("input_required", "which size: S or L?")
    assert answer.state == "completed"
    assert "ordered L" in results(script)[0]


async def test_an_agent_that_completes_without_any_output_is_said_to_have_given_no_answer() -> None:
    async def silent(turn: Turn) -> None:
        await turn.task()
        await turn.status("working", "working on it")
        await turn.status("completed")

    script = painting()
    async with (
        foreign(silent) as painter,
        supervising({"painter": painter.url}, script) as url,
        connected(url) as client,
    ):
        await ask(client, "Paint it")
    assert results(script) == ["The painter agent completed the task without an answer."]
