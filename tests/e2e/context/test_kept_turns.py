"""What is kept of a conversation when the process that answered it is gone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from a2a.types.a2a_pb2 import ListTasksRequest, Role
from google.protobuf.json_format import MessageToDict

from tests.e2e.agents.peers import Keys, ask, connected
from utils.a2a_common.protocol.extensions import USAGE_EXTENSION
from utils.events import Usage
from utils.testing.live_agent import running_agent
from utils.testing.scripted_model import ScriptedModel, ScriptedReply, call, calls

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")


async def test_a_second_message_sees_the_first_also_after_a_restart_and_another_conversation_does_not(
    tmp_path: Path,
) -> None:
    before = ScriptedModel.of(calls(call("lookup", key="a")), "It is a, Ada.", "Who are you?")
    after = ScriptedModel.of("You are Ada.", "I do not know.")
    async with running_agent(Keys, model=before, home=tmp_path) as url, connected(url) as client:
        first = await ask(client, "I am Ada. What is the value of a?")
        other = await ask(client, "Hello?")
    async with running_agent(Keys, model=after, home=tmp_path) as url, connected(url) as client:
        await ask(client, "Who am I?", context_id=first.context_id)
        await ask(client, "And who am I?", context_id=other.context_id)
    shown, of_other = ([str(m.content) for m in request.messages[1:]] for request in after.requests)
    assert shown == [
        "I am Ada. What is the value of a?",
        "",
        "the value of a",
        "It is a, Ada.",
        "Who am I?",
    ]
    assert of_other == ["Hello?", "Who are you?", "And who am I?"]


async def test_each_turn_is_kept_with_its_ids_who_said_what_and_when(tmp_path: Path) -> None:
    model = ScriptedModel.of("Hello Ada.", "You are Ada.")
    async with running_agent(Keys, model=model, home=tmp_path) as url, connected(url) as client:
        first = await ask(client, "I am Ada.")
        second = await ask(client, "Who am I?", context_id=first.context_id)
    async with running_agent(Keys, model=model, home=tmp_path) as url, connected(url) as client:
        wanted = ListTasksRequest(context_id=first.context_id, history_length=9, include_artifacts=True)
        kept = list(reversed((await client.list_tasks(wanted)).tasks))
    assert [task.id for task in kept] == [first.task_id, second.task_id]
    asked = [said for task in kept for said in task.history if said.role == Role.ROLE_USER]
    assert [said.parts[0].text for said in asked] == ["I am Ada.", "Who am I?"]
    assert all(said.message_id for said in asked)
    answers = [part.text for task in kept for each in task.artifacts for part in each.parts]
    assert answers == ["Hello Ada.", "You are Ada."]
    times = [task.status.timestamp.ToNanoseconds() for task in kept]
    assert times == sorted(times)
    assert times[0] > 1_700_000_000 * 10**9


async def test_each_kept_turn_says_its_own_tokens_also_after_a_restart(tmp_path: Path) -> None:
    model = ScriptedModel.of(
        calls(call("lookup", key="a"), usage=Usage(300, 10)),
        ScriptedReply("It is a.", usage=Usage(320, 12)),
        ScriptedReply("You are welcome.", usage=Usage(340, 14)),
    )
    async with running_agent(Keys, model=model, home=tmp_path) as url, connected(url) as client:
        first = await ask(client, "What is the value of a?")
        second = await ask(client, "Thanks.", context_id=first.context_id)
    async with running_agent(Keys, model=model, home=tmp_path) as url, connected(url) as client:
        listed = (await client.list_tasks(ListTasksRequest(context_id=first.context_id))).tasks
    kept: dict[str, Any] = {task.id: MessageToDict(task.metadata)[USAGE_EXTENSION]["keys"] for task in listed}
    assert [
        (kept[turn.task_id]["input_tokens"], kept[turn.task_id]["output_tokens"]) for turn in (first, second)
    ] == [(620, 22), (340, 14)]
