"""Two replicas of an agent over one database: each answers for the tasks that the other one runs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, ClassVar, NamedTuple

import pytest
from a2a.client import Client
from a2a.types.a2a_pb2 import (
    CancelTaskRequest,
    GetTaskRequest,
    ListTaskPushNotificationConfigsRequest,
    ListTasksRequest,
    SubscribeToTaskRequest,
    TaskState,
)
from langchain_core.messages import BaseMessage, ToolMessage

from multi_agents.platform_engineer.agent import PlatformEngineer
from tests.e2e.agents.peers import Answer, Keys, ask, connected, message
from tests.e2e.delegation.teams import Asker, model
from tests.e2e.wire.test_push import Hook, listening
from tests.postgres import PostgresServer
from utils.a2a_common.protocol.request import AgentRequest
from utils.events import AgentEvent, Completed, TextDelta
from utils.observability.metrics import process_metrics
from utils.testing.live_agent import running_agent
from utils.testing.scripted_model import ScriptedReply, call, calls

pytestmark = [
    pytest.mark.servers,
    pytest.mark.timeout(300),
    pytest.mark.filterwarnings("ignore:.*:DeprecationWarning"),
    pytest.mark.xdist_group("postgres"),
]


class Slow(Keys):
    """Says a word, and another one when it may go on."""

    name = "slow"
    go = asyncio.Event()
    stopped: ClassVar[list[str]] = []

    async def stream(self, request: AgentRequest) -> AsyncGenerator[AgentEvent, None]:
        yield TextDelta("Begun. ")
        try:
            await Slow.go.wait()
        except asyncio.CancelledError:
            Slow.stopped.append(request.task_id)
            raise
        yield TextDelta("Done.")
        yield Completed()


class Pair(NamedTuple):
    """Clients of two replicas."""

    first: Client
    second: Client


@asynccontextmanager
async def replicas(agent: Any, database: str, script: Any = (), **environ: str) -> AsyncIterator[Pair]:
    shared = {"DATABASE_URL": database, "DATABASE_CONNECT_SECONDS": "60", **environ}
    async with (
        running_agent(agent, environ=shared, model=model(script)) as one,
        running_agent(agent, environ=shared, model=model(script)) as two,
        connected(one) as first,
        connected(two) as second,
    ):
        yield Pair(first, second)


@pytest.fixture
async def slow(postgres: PostgresServer) -> AsyncIterator[Pair]:
    Slow.go = asyncio.Event()
    Slow.stopped = []
    async with replicas(Slow, postgres.new_database()) as pair:
        yield pair


async def follow(client: Client, task_id: str) -> Answer:
    answer = Answer()
    async for event in client.subscribe(SubscribeToTaskRequest(id=task_id)):
        answer.events.append(event)
    return answer


def open_streams() -> float:
    """The streams of both replicas, which share this process."""
    return process_metrics().registry.get_sample_value("platform_engineer_open_streams") or 0.0


async def begun(client: Client, text: str, **where: str) -> tuple[Answer, AsyncIterator[Any]]:
    """Send a message; what was streamed up to the first piece of the answer, and the rest."""
    events = aiter(client.send_message(message(text, **where)))
    answer = Answer()
    async with asyncio.timeout(60):
        while not answer.chunks:
            answer.events.append(await anext(events))
    return answer, events


async def test_any_replica_shows_and_follows_a_task_and_takes_its_message_again(slow: Pair) -> None:
    told = [await begun(client, "a", message_id=f"m{n}") for n, client in enumerate(slow)]
    before = open_streams()
    for (answer, _), client in zip(told, reversed(slow), strict=True):
        task = await client.get_task(GetTaskRequest(id=answer.task_id))
        assert task.status.state == TaskState.TASK_STATE_WORKING
        assert answer.task_id in [each.id for each in (await client.list_tasks(ListTasksRequest())).tasks]
    follower = asyncio.create_task(follow(slow.second, told[0][0].task_id))
    again = asyncio.create_task(ask(slow.second, "a", message_id="m0"))
    async with asyncio.timeout(60):
        while open_streams() < before + 2:
            await asyncio.sleep(0.01)
    Slow.go.set()
    for answer, events in told:
        answer.events += [event async for event in events]
        assert (answer.state, answer.text) == ("completed", "Begun. Done.")
        stored = await slow.first.get_task(GetTaskRequest(id=answer.task_id))
        assert "".join(part.text for part in stored.artifacts[0].parts) == "Begun. Done."
    assert (await follower).state == "completed"
    assert (await again).task_id == told[0][0].task_id


async def test_any_replica_cancels_a_task_and_its_run_stops(slow: Pair) -> None:
    for client, other in (slow, reversed(slow)):
        answer, events = await begun(client, "a")
        canceled = await other.cancel_task(CancelTaskRequest(id=answer.task_id))
        assert canceled.status.state == TaskState.TASK_STATE_CANCELED
        assert Slow.stopped[-1] == answer.task_id
        answer.events += [event async for event in events]
        assert answer.state == "canceled"


async def test_a_webhook_hears_each_event_once_whichever_replica_runs_the_turn(
    postgres: PostgresServer,
) -> None:
    Slow.go = asyncio.Event()
    Slow.go.set()
    hook = Hook()
    environ = {"PUSH_ALLOW_PRIVATE": "true"}
    async with listening(hook) as url, replicas(Slow, postgres.new_database(), **environ) as pair:
        tasks = await asyncio.gather(*(sent_with(pair.first, url, f"a{n}") for n in range(8)))
        async with asyncio.timeout(60):
            while sum("TASK_STATE_COMPLETED" in str(body) for _, body in hook.requests) < len(tasks):
                await asyncio.sleep(0.05)
        stored = ListTaskPushNotificationConfigsRequest(task_id=tasks[0])
        found = await pair.second.list_task_push_notification_configs(stored)
        assert [config.url for config in found.configs] == [url]
    bodies = [str(body) for _, body in hook.requests]
    assert len(bodies) == len(set(bodies))
    assert hook.kinds().count("task") == len(tasks)


async def sent_with(client: Client, url: str, text: str) -> str:
    """Send a message with a webhook; the id of its task, once it has ended."""
    request = message(text)
    request.configuration.task_push_notification_config.url = url
    events = [event async for event in client.send_message(request)]
    return str(events[0].task.id)


def says(messages: Sequence[BaseMessage]) -> ScriptedReply | str:
    """What a supervisor's model says: it delegates each request, and quotes the result."""
    last = messages[-1]
    return f"It says: {last.text}" if isinstance(last, ToolMessage) else calls(call("asker", request="a"))


async def test_a_question_is_answered_at_another_replica_of_the_supervisor_and_of_the_agent(
    postgres: PostgresServer,
) -> None:
    database = postgres.new_database()
    asks: list[Any] = [calls(call("where", "where")), "It is done."]
    shared = {"DATABASE_URL": database, "DATABASE_CONNECT_SECONDS": "60"}
    async with (
        running_agent(Asker, environ=shared, model=model(asks)) as asker,
        replicas(PlatformEngineer, database, says, SUB_AGENTS=f"asker={asker}") as pair,
    ):
        question = await ask(pair.first, "Find restaurants.")
        assert question.state == "input_required"
        where = {"context_id": question.context_id}
        answer = await ask(pair.second, "07103", task_id=question.task_id, **where)
        assert (answer.state, answer.text) == ("completed", "It says: It is done.")
