"""A turn that one agent of ours did as a whole ends with that agent's words; every other one with the supervisor's."""

from __future__ import annotations

from typing import Any

import pytest
from a2a.types.a2a_pb2 import Artifact, GetTaskRequest
from google.protobuf import json_format

from tests.e2e.agents.peers import ask, connected
from tests.e2e.delegation.teams import team
from utils.a2a_common.protocol.extensions import ARTIFACT_EXTENSION
from utils.testing.scripted_model import call, calls

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")

ASKED = "What is a, in short?"


def origin(artifact: Artifact) -> str:
    facts: dict[str, Any] = json_format.MessageToDict(artifact.metadata).get(ARTIFACT_EXTENSION, {})
    return str(facts.get("origin", ""))


async def test_a_request_that_one_agent_did_in_the_users_words_is_answered_in_the_agents_words() -> None:
    script = [calls(call("keys", request="What is a,\n  in short?"), text="I ask keys.")]
    async with team(script, keys=["a is **1**."]) as it, connected(it.url) as client:
        answer = await ask(client, ASKED)
        task = await client.get_task(GetTaskRequest(id=answer.task_id))
    assert (answer.state, answer.text) == ("completed", "a is **1**.")
    assert len(it.supervisor.requests) == 1
    (artifact,) = [each for each in task.artifacts if each.artifact_id == "response"]
    assert origin(artifact) == "keys"
    assert [part.text for part in artifact.parts] == ["a is **1**."]


async def test_the_next_turn_knows_what_was_answered() -> None:
    script = [calls(call("keys", request=ASKED)), "I said 1."]
    async with team(script, keys=["a is 1."]) as it, connected(it.url) as client:
        first = await ask(client, ASKED)
        second = await ask(client, "What did you say?", context_id=first.context_id)
    assert second.text == "I said 1."
    assert "a is 1." in [
        str(each.content) for each in it.supervisor.requests[1].messages if each.type == "ai"
    ]


@pytest.mark.parametrize(
    ("said", "asked", "environ"),
    [
        pytest.param(ASKED, "What is a?", {}, id="other words"),
        pytest.param(ASKED, ASKED, {"SUB_AGENTS_SHARES": "keys=request"}, id="an agent that is not ours"),
        pytest.param(
            f"{ASKED} Always answer in French.", f"{ASKED} Always answer in French.", {}, id="a standing rule"
        ),
    ],
)
async def test_the_supervisor_writes_every_other_answer(
    said: str, asked: str, environ: dict[str, str]
) -> None:
    script = [calls(call("keys", request=asked)), "In my words: 1."]
    async with team(script, environ=environ, keys=["a is 1."]) as it, connected(it.url) as client:
        answer = await ask(client, said)
        task = await client.get_task(GetTaskRequest(id=answer.task_id))
    assert answer.text == "In my words: 1."
    assert len(it.supervisor.requests) == 2
    assert {origin(each) for each in task.artifacts} == {""}


async def test_two_delegations_are_joined_by_the_supervisor() -> None:
    script = [calls(call("keys", "c1", request=ASKED), call("words", "c2", request=ASKED)), "Both."]
    async with team(script, keys=["a is 1."], words=["a is one."]) as it, connected(it.url) as client:
        assert (await ask(client, ASKED)).text == "Both."


async def test_a_second_delegation_of_a_turn_is_joined_by_the_supervisor() -> None:
    script = [
        calls(call("keys", "c1", request="What is b?")),
        calls(call("words", "c2", request=ASKED)),
        "Both.",
    ]
    async with team(script, keys=["b is 2."], words=["a is one."]) as it, connected(it.url) as client:
        assert (await ask(client, ASKED)).text == "Both."


async def test_an_answer_that_came_after_a_question_is_written_by_the_supervisor() -> None:
    script = [calls(call("asker", request="Find places")), "Here it is."]
    async with team(script, asker=[calls(call("where")), "Three."]) as it, connected(it.url) as client:
        first = await ask(client, "Find places")
        last = await ask(client, "Newark", task_id=first.task_id, context_id=first.context_id)
    assert (first.state, last.text) == ("input_required", "Here it is.")


async def test_a_result_that_was_shortened_is_written_by_the_supervisor() -> None:
    script = [calls(call("keys", request=ASKED)), "In short: 1."]
    async with (
        team(script, keys=["\n".join(f"line {n} of what a is" for n in range(2_000))]) as it,
        connected(it.url) as client,
    ):
        assert (await ask(client, ASKED)).text == "In short: 1."
