"""A message that names no task, where a task of its conversation waits for the user."""

from __future__ import annotations

import pytest
from a2a.client import Client
from a2a.types.a2a_pb2 import GetTaskRequest, ListTasksRequest, SendMessageRequest, TaskState
from google.protobuf import json_format, struct_pb2

from tests.e2e.agents.peers import Answer, ask, connected, message
from tests.e2e.delegation.teams import Asker, model, results, sent_ids, team
from utils.a2a_common.protocol.delegation_context import DelegationContext
from utils.testing.live_agent import running_agent
from utils.testing.scripted_model import call, calls

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")

ASKS = [calls(call("where")), "Found 3 places in Newark."]
DELEGATES = calls(call("asker", "c1", request="Find places"))
WAITS = (TaskState.TASK_STATE_INPUT_REQUIRED, TaskState.TASK_STATE_AUTH_REQUIRED)


async def send(client: Client, request: SendMessageRequest) -> Answer:
    return Answer([event async for event in client.send_message(request)])


async def state_of(client: Client, task_id: str) -> int:
    return (await client.get_task(GetTaskRequest(id=task_id))).status.state


async def waiting(client: Client) -> int:
    return sum(task.status.state in WAITS for task in (await client.list_tasks(ListTasksRequest())).tasks)


async def test_a_new_request_without_a_task_ends_the_one_that_waited_and_its_remote_task() -> None:
    script = [DELEGATES, calls(call("keys", "c2", request="What is a?")), "a is 1."]
    async with team(script, asker=ASKS, keys=["a is 1"]) as it, connected(it.url) as client:
        asked = await ask(client, "Find places near me")
        answer = await ask(client, "What is the value of a?", context_id=asked.context_id)
        old = await state_of(client, asked.task_id)
        (remote,) = await it.tasks("asker")
        left = await waiting(client)
    assert (answer.state, answer.text) == ("completed", "a is 1.")
    assert answer.task_id != asked.task_id
    assert old == remote.status.state == TaskState.TASK_STATE_CANCELED
    assert left == 0
    assert len(it.models["asker"].requests) == 1


async def test_an_answer_without_a_task_goes_on_with_the_one_that_waited() -> None:
    async with team([DELEGATES, "There are 3 places."], asker=ASKS) as it, connected(it.url) as client:
        asked = await ask(client, "Find places near me")
        answer = await ask(client, "07103", context_id=asked.context_id)
        (task,) = (await client.list_tasks(ListTasksRequest())).tasks
        (remote,) = await it.tasks("asker")
    assert (answer.state, answer.text) == ("completed", "There are 3 places.")
    assert task.id == asked.task_id == answer.events[-1].status_update.task_id
    assert results(it.models["asker"]) == ["The user said 07103"]
    assert len(sent_ids(remote)) == 2


async def test_a_model_that_decides_whether_it_is_an_answer_is_asked_once() -> None:
    told = {"LLM_PROVIDER": "openai", "OPENAI_API_KEY": "unused", "CONTEXT_PINS_BY_MODEL": "false"}
    script = [DELEGATES, "ANSWER", "There are 3 places."]
    async with team(script, asker=ASKS, environ=told) as it, connected(it.url) as client:
        asked = await ask(client, "Find places near me")
        answer = await ask(client, "Find the cheapest ones around Newark", context_id=asked.context_id)
    assert (answer.state, answer.text) == ("completed", "There are 3 places.")
    assert len(it.supervisor.requests) == 3


async def test_such_an_answer_is_known_again_when_it_is_sent_once_more() -> None:
    async with team([DELEGATES, "There are 3 places."], asker=ASKS) as it, connected(it.url) as client:
        asked = await ask(client, "Find places near me")
        reply = message("07103", context_id=asked.context_id)
        first = await send(client, reply)
        again = await send(client, reply)
        tasks = (await client.list_tasks(ListTasksRequest())).tasks
    assert first.state == again.state == "completed"
    assert again.task_id == asked.task_id
    assert len(tasks) == 1
    assert len(it.supervisor.requests) == 2


async def test_what_another_agent_delegates_is_never_taken_for_an_answer() -> None:
    async with team([DELEGATES, "Hello."], asker=ASKS) as it, connected(it.url) as client:
        asked = await ask(client, "Find places near me")
        request = message("07103", context_id=asked.context_id)
        scope = DelegationContext("Look up 07103", 1, 1, "elsewhere").to_payload()
        request.message.parts.add().data.CopyFrom(json_format.ParseDict(scope, struct_pb2.Value()))
        answer = await send(client, request)
        old = await state_of(client, asked.task_id)
    assert (answer.state, answer.text) == ("completed", "Hello.")
    assert answer.task_id != asked.task_id
    assert old == TaskState.TASK_STATE_CANCELED


async def test_an_agent_of_its_own_leaves_no_task_waiting_for_an_answer_that_cannot_come() -> None:
    asker = model([calls(call("where")), "Hello."])
    async with running_agent(Asker, model=asker) as url, connected(url) as client:
        asked = await ask(client, "Find places")
        answer = await ask(client, "Newark", context_id=asked.context_id)
        old, left = await state_of(client, asked.task_id), await waiting(client)
    assert (answer.state, answer.text) == ("completed", "Hello.")
    assert old == TaskState.TASK_STATE_CANCELED
    assert left == 0


async def test_a_task_of_another_conversation_goes_on_waiting() -> None:
    async with team([DELEGATES, "Hello.", "Done."], asker=ASKS) as it, connected(it.url) as client:
        asked = await ask(client, "Find places near me")
        await ask(client, "Hello there, who are you?")
        answer = await ask(client, "07103", task_id=asked.task_id)
    assert (answer.state, answer.text) == ("completed", "Done.")
