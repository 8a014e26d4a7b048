"""A question of one agent comes with what the agents that were asked beside it have answered."""

from __future__ import annotations

from pathlib import Path

import pytest
from a2a.types.a2a_pb2 import Artifact, GetTaskRequest, ListTasksRequest, Task
from google.protobuf import json_format

from tests.e2e.agents.peers import ask, connected
from tests.e2e.cli.command import run
from tests.e2e.delegation.teams import team
from utils.a2a_common.protocol.extensions import ARTIFACT_EXTENSION
from utils.testing.scripted_model import ScriptedModel, call, calls

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")

ASKS = [calls(call("where")), "Found 3 places in Newark."]
BOTH = calls(call("asker", "c1", request="Find places"), call("keys", "c2", request="What is a?"))
SEEN = "already been shown"


def text_of(artifact: Artifact) -> str:
    return "".join(part.text for part in artifact.parts)


async def task_of(url: str, task_id: str) -> Task:
    async with connected(url) as client:
        return await client.get_task(GetTaskRequest(id=task_id))


def told(model: ScriptedModel, request: int) -> str:
    """All that a model was told in a request."""
    return "\n".join(str(message.content) for message in model.requests[request].messages)


async def test_the_question_comes_with_what_the_others_have_answered_and_the_task_keeps_it() -> None:
    async with team([BOTH, "There are 3 places."], asker=ASKS, keys=["a is 1"]) as it:
        async with connected(it.url) as client:
            asked = await ask(client, "Find places, and what is a?")
            waiting = await task_of(it.url, asked.task_id)
            answer = await ask(client, "07103", task_id=asked.task_id)
        done = await task_of(it.url, asked.task_id)
    assert (asked.state, asked.last_words) == ("input_required", "Which city?")
    assert asked.text == "**From keys:**\n\na is 1"
    assert [text_of(each) for each in waiting.artifacts] == ["**From keys:**\n\na is 1"]
    fact = json_format.MessageToDict(waiting.artifacts[0].metadata)[ARTIFACT_EXTENSION]
    assert (waiting.artifacts[0].name, fact["origin"]) == ("response", "keys")
    assert [chunk[2] for chunk in answer.chunks] == ["There are 3 places.", ""]  # what is new, alone
    assert [text_of(each) for each in done.artifacts] == ["**From keys:**\n\na is 1", "There are 3 places."]


async def test_the_model_is_told_what_the_user_has_read_already() -> None:
    async with team([BOTH, "There are 3 places."], asker=ASKS, keys=["a is 1"]) as it:
        async with connected(it.url) as client:
            asked = await ask(client, "Find places, and what is a?")
            await ask(client, "07103", task_id=asked.task_id)
            await ask(client, "Thanks", context_id=asked.context_id)
        first, joining, later = (told(it.supervisor, number) for number in range(3))
    assert SEEN not in first
    assert f"{SEEN}, word for word, what these agents answered to this message: keys." in joining
    assert SEEN not in later


async def test_each_question_comes_with_what_was_answered_since_the_one_before() -> None:
    three = calls(
        call("asker", "c1", request="Places"),
        call("second", "c2", request="Dates"),
        call("keys", "c3", request="What is a?"),
    )
    second = [calls(call("when")), "December it is."]
    async with (
        team([three, "Booked."], asker=ASKS, second=second, keys=["a is 1"]) as it,
        connected(it.url) as client,
    ):
        first = await ask(client, "Book")
        next_ = await ask(client, "07103", task_id=first.task_id)
        await ask(client, "December 15-22", task_id=first.task_id)
        joining = told(it.supervisor, 1)
    assert [first.last_words, next_.last_words] == ["Which city?", "Which dates?"]
    assert first.text == "**From keys:**\n\na is 1"
    assert next_.text == "**From asker:**\n\nFound 3 places in Newark."
    assert "answered to this message: asker, keys." in joining


async def test_a_long_answer_is_shown_whole_beside_the_question() -> None:
    long = f"{'All keys of the service. ' * 500}The last one is z."
    async with team([BOTH], asker=ASKS, keys=[long]) as it, connected(it.url) as client:
        asked = await ask(client, "Find places, and what are the keys?")
    assert asked.text == f"**From keys:**\n\n{long}"


async def test_without_another_answer_a_question_comes_alone() -> None:
    down = calls(call("asker", "c1", request="Find places"), call("keys", "c2", request="What is a?"))
    script = [calls(call("asker", request="Find places")), "Found.", down, "Found again."]
    keys = [calls(call("lookup", key="down")), ""]
    async with team(script, asker=[*ASKS, *ASKS], keys=keys) as it, connected(it.url) as client:
        alone = await ask(client, "Find places")
        await ask(client, "07103", task_id=alone.task_id)
        beside_a_failure = await ask(client, "Find places, and what is a?")
        await ask(client, "07103", task_id=beside_a_failure.task_id)
        joining = [told(it.supervisor, number) for number in (1, 3)]
    assert (alone.text, beside_a_failure.text) == ("", "")
    assert SEEN not in "".join(joining)


async def test_the_chat_shows_the_answers_before_the_question_and_not_again(tmp_path: Path) -> None:
    async with team([BOTH, "There are 3 places."], asker=ASKS, keys=["a is 1"]) as it:
        asked = await run("chat", "--url", it.url, "--ask", "Find places, and a?", home=tmp_path)
        waiting = (await tasks_at(it.url))[0]
        again = await run(
            "chat", "--url", it.url, "--context", waiting.context_id, "--ask", "07103", home=tmp_path
        )
    assert (asked.code, again.code) == (5, 0)
    assert asked.out == "**From keys:**\n\na is 1\n"
    assert "asker asks: Which city?" in asked.err
    assert again.out == "There are 3 places.\n"


async def tasks_at(url: str) -> list[Task]:
    async with connected(url) as client:
        return list((await client.list_tasks(ListTasksRequest())).tasks)
