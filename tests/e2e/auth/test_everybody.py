"""Among people, programs and our own supervisor nobody reaches what is another's, by any method, binding or replica."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from a2a.client import Client
from a2a.types import a2a_pb2 as pb

from tests.e2e.auth.people import Desk, Person, everybody
from tests.e2e.auth.provider import provider
from tests.e2e.auth.trespass import METHODS, trespasses
from tests.e2e.conversations.asking import request as about_conversation
from tests.e2e.wire.test_push import Hook, listening
from tests.e2e.wire.ways import Served, Way, asking
from tests.ports import free_port
from tests.postgres import PostgresServer
from utils.auth.service_tokens import new_private_key
from utils.testing.live_agent import running_agent
from utils.testing.scripted_model import ScriptedModel

pytestmark = [pytest.mark.filterwarnings("ignore:.*:DeprecationWarning"), pytest.mark.timeout(300)]

BINDINGS = ("JSONRPC", "HTTP+JSON", "GRPC")


@dataclass(frozen=True)
class Crowd:
    """Everybody, and the clients of every replica over every binding."""

    everybody: Sequence[Person]
    clients: Sequence[Client]


@asynccontextmanager
async def crowd(replicas: int, home: Path, **environ: str) -> AsyncIterator[Crowd]:
    """Serve an agent, and let everybody begin their tasks, each at another replica than the one before."""
    Desk.go = asyncio.Event()
    private = new_private_key()
    public = {name: value for name, value in private.items() if name != "d"}
    async with AsyncExitStack() as stack:
        idp = await stack.enter_async_context(provider())
        webhook = await stack.enter_async_context(listening(Hook()))
        common = {
            "AUTH_MODE": "oidc",
            "AUTH_ISSUERS": idp.issuers,
            "AUTH_TENANT_CLAIM": "tenant",
            "AUTH_SERVICE_PUBLIC_KEY": json.dumps(public),
            "PUSH_ALLOW_PRIVATE": "true",
            "MAX_CONCURRENT_TURNS": "40",
            "EMBEDDINGS_PROVIDER": "none",
            **environ,
        }
        served = []
        for number in range(replicas):
            port = free_port()
            running = running_agent(
                Desk,
                environ={**common, "GRPC_PORT": str(port)},
                model=ScriptedModel.of(),
                home=home / str(number),
            )
            served.append(Served(await stack.enter_async_context(running), port, None))
        clients = [
            await stack.enter_async_context(each.client(Way(binding, "1.0")))
            for each in served
            for binding in BINDINGS
        ]
        people = everybody(idp, private)
        for number, person in enumerate(people):
            await person.begin(clients[number % len(clients)], webhook)
        yield Crowd(people, clients)
        Desk.go.set()


async def reached_by_others(it: Crowd) -> list[str]:
    found = []
    for thief in it.everybody:
        for number, owner in enumerate(each for each in it.everybody if each is not thief):
            # each meets each at one client; over all of them every client sees every attempt
            client = it.clients[(number + it.everybody.index(thief)) % len(it.clients)]
            found += await trespasses(client, thief, owner)
    return found


async def kept(client: Client, person: Person) -> list[str]:
    """What is wrong with what its owner sees."""
    wrong = []
    for task, state in ((person.waiting, "INPUT_REQUIRED"), (person.running, "WORKING")):
        found = await client.get_task(pb.GetTaskRequest(id=task.id), context=person.proof())
        if found.status.state != pb.TaskState.Value(f"TASK_STATE_{state}"):
            wrong.append(f"the task of {person.name} is {found.status}")
        if person.secret not in str(found.history):
            wrong.append(f"the history of {person.name} is {found.history}")
    listed = await client.list_tasks(pb.ListTasksRequest(page_size=100), context=person.proof())
    if {each.id for each in listed.tasks} != person.begun:
        wrong.append(f"{person.name} lists {len(listed.tasks)} tasks of {len(person.begun)}")
    asked = pb.ListTaskPushNotificationConfigsRequest(task_id=person.waiting.id)
    hooks = (await client.list_task_push_notification_configs(asked, context=person.proof())).configs
    if [(each.id, each.url.partition("//")[2][:4]) for each in hooks] != [(person.webhook, "127.")]:
        wrong.append(f"the webhooks of {person.name} are {hooks}")
    return wrong


async def ended(it: Crowd, person: Person, number: int) -> list[str]:
    """Let an owner answer, cancel and delete, each at another client; the states that this came to."""

    def client(step: int) -> Client:
        return it.clients[(number + step) % len(it.clients)]

    answer = asking("green", task_id=person.waiting.id)
    events = [event async for event in client(1).send_message(answer, context=person.proof())]
    told = "".join(str(event.artifact_update) for event in events if event.HasField("artifact_update"))
    task = await client(2).cancel_task(pb.CancelTaskRequest(id=person.running.id), context=person.proof())
    delete = about_conversation(action="delete", contextId=person.waiting.context_id)
    said = [str(event) async for event in client(3).send_message(delete, context=person.proof())]
    return [
        "answered" if "You chose green." in told else f"{person.name}: {events}",
        pb.TaskState.Name(task.status.state),
        "deleted" if "deleted" in "".join(said) else str(said),
    ]


async def nobody_reaches_what_is_anothers(it: Crowd) -> None:
    assert await reached_by_others(it) == []
    for person in it.everybody:
        for client in it.clients:
            assert await kept(client, person) == []
    for number, person in enumerate(it.everybody):
        assert await ended(it, person, number) == ["answered", "TASK_STATE_CANCELED", "deleted"]


@pytest.mark.long
async def test_on_one_replica_nobody_reaches_what_is_anothers_and_everybody_what_is_theirs(
    tmp_path: Path,
) -> None:
    async with crowd(1, tmp_path) as it:
        await nobody_reaches_what_is_anothers(it)


@pytest.mark.servers
@pytest.mark.xdist_group("postgres")
async def test_on_two_replicas_nobody_reaches_what_is_anothers_and_everybody_what_is_theirs(
    postgres: PostgresServer, tmp_path: Path
) -> None:
    shared = {"DATABASE_URL": postgres.new_database(), "DATABASE_CONNECT_SECONDS": "60"}
    async with crowd(2, tmp_path, **shared) as it:
        await nobody_reaches_what_is_anothers(it)


def test_what_is_tried_are_all_methods_of_the_protocol_that_are_about_tasks() -> None:
    [service] = pb.DESCRIPTOR.services_by_name.values()
    methods: set[Any] = {method.name for method in service.methods}
    assert methods - METHODS == {
        "SendStreamingMessage",
        "GetExtendedAgentCard",
    }  # the client streams what it sends
