"""A message that is sent again is answered with its first task; nothing runs twice."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from a2a.client import Client, ClientConfig, create_client
from a2a.types.a2a_pb2 import ListTasksRequest, SendMessageRequest, Task, TaskState

from tests.e2e.agents.peers import Answer, Keys, connected, message
from tests.e2e.delegation.teams import Asker, model
from utils.a2a_common.client.transport.connection import http_client
from utils.testing.live_agent import running_agent
from utils.testing.scripted_model import ScriptedReply, call, calls

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")


async def unary(url: str, request: SendMessageRequest) -> Task:
    async with http_client(url) as http:
        client = await create_client(url, ClientConfig(httpx_client=http, streaming=False))
        return [event.task async for event in client.send_message(request)][-1]


async def streamed(client: Client, request: SendMessageRequest) -> Answer:
    return Answer([event async for event in client.send_message(request)])


async def test_five_at_once_and_again_after_the_end_are_one_run() -> None:
    gate, started = asyncio.Event(), asyncio.Event()
    scripted = model([ScriptedReply(text="The one answer.", gate=gate, started=started)])
    request = message("hello")
    async with running_agent(Keys, model=scripted) as url, connected(url) as client:
        sends = [asyncio.create_task(unary(url, request)) for _ in range(3)]
        streams = [asyncio.create_task(streamed(client, request)) for _ in range(2)]
        await started.wait()
        gate.set()
        tasks, answers = await asyncio.gather(*sends), await asyncio.gather(*streams)
        later = await unary(url, request)
        later_stream = await streamed(client, request)
        listed = (await client.list_tasks(ListTasksRequest())).tasks
    assert len(scripted.requests) == 1
    assert {task.id for task in (*tasks, later)} == {listed[0].id}
    assert len(listed) == 1
    assert {task.artifacts[0].parts[0].text for task in (*tasks, later)} == {"The one answer."}
    assert {answer.state for answer in answers} == {"completed"}
    assert later_stream.kinds == ["task"]
    assert later_stream.events[0].task.artifacts[0].parts[0].text == "The one answer."


async def test_a_message_is_still_known_after_a_restart(tmp_path: Path) -> None:
    request = message("hello")
    first, second = model(["The one answer."]), model([])
    async with running_agent(Keys, model=first, home=tmp_path) as url:
        before = await unary(url, request)
    async with running_agent(Keys, model=second, home=tmp_path) as url:
        after = await unary(url, request)
    assert after.id == before.id
    assert after.artifacts[0].parts[0].text == "The one answer."
    assert second.requests == []


async def test_an_answer_to_a_question_is_taken_once() -> None:
    scripted = model([calls(call("where")), "Found."])
    async with running_agent(Asker, model=scripted) as url, connected(url) as client:
        asked = await streamed(client, message("Places"))
        reply = message("Newark", task_id=asked.task_id)
        answers = await asyncio.gather(*(unary(url, reply) for _ in range(5)))
        again = await unary(url, reply)
    assert len(scripted.requests) == 2
    states = {task.status.state for task in (*answers, again)}
    assert states == {TaskState.TASK_STATE_COMPLETED}
    assert len(again.history) == 3  # request, question, answer


async def test_another_message_under_the_same_id_is_no_retry() -> None:
    scripted = model(["The first.", "The second."])
    request = message("hello")
    async with running_agent(Keys, model=scripted) as url:
        first = await unary(url, request)
        request.message.parts[0].text = "something else"
        second = await unary(url, request)
    assert first.id != second.id
    assert [task.artifacts[0].parts[0].text for task in (first, second)] == ["The first.", "The second."]


async def test_the_same_id_in_another_tenant_is_another_message() -> None:
    scripted = model(["for a", "for b"])
    request = message("hello")
    async with running_agent(Keys, model=scripted) as url:
        request.tenant = "a"
        first = await unary(url, request)
        request.tenant = "b"
        second = await unary(url, request)
    assert first.id != second.id
    assert len(scripted.requests) == 2
