"""Among people of two tenants, an administrator and a program nobody reaches what another has a sub-agent do.

Neither through the supervisor, which delegates for everybody, nor at the sub-agent itself, with a token of one's own or one that the
supervisor signs for somebody else.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import pytest
from a2a.client import Client
from a2a.types import a2a_pb2 as pb
from langchain_core.messages import BaseMessage

from multi_agents.platform_engineer.agent import PlatformEngineer
from tests.e2e.agents.test_delegation import until_ready
from tests.e2e.auth.cases import service_key_in
from tests.e2e.auth.people import RUNS, WAITS, Desk, Person
from tests.e2e.auth.provider import Provider, provider
from tests.e2e.auth.trespass import trespasses
from tests.e2e.delegation.teams import words_alone
from tests.e2e.wire.test_push import Hook, listening
from tests.e2e.wire.ways import Served, Way, asking
from tests.ports import free_port
from utils.a2a_common.protocol.request import AgentRequest
from utils.auth.service_tokens import Signer
from utils.events import AgentEvent
from utils.testing.live_agent import running_agent
from utils.testing.scripted_model import ScriptedModel, ScriptedReply, call, calls

pytestmark = [
    pytest.mark.long,
    pytest.mark.filterwarnings("ignore:.*:DeprecationWarning"),
    pytest.mark.timeout(600),
]

BINDINGS = ("JSONRPC", "HTTP+JSON", "GRPC")
SUPERVISOR = PlatformEngineer.name
WHO: dict[str, dict[str, Any]] = {
    "ann": {"sub": "ann"},
    "bob": {"sub": "bob"},
    "ann of another tenant": {"sub": "ann", "tenant": "other"},
    "bob of another tenant": {"sub": "bob", "tenant": "other"},
    "an administrator": {"sub": "root"},
    "a program": {"sub": "robot", "client_id": "robot"},
}


class Below(Desk):
    """A desk that says what it has begun."""

    begun: ClassVar[asyncio.Queue[str]]

    async def stream(self, request: AgentRequest) -> AsyncGenerator[AgentEvent, None]:
        self.begun.put_nowait(request.text)
        async for event in super().stream(request):
            yield event


def delegates(messages: Sequence[BaseMessage]) -> ScriptedReply:
    """Everything goes to the desk, word for word, and its answer to the user."""
    last = messages[-1]
    if last.type == "tool":
        return ScriptedReply(text=f"The desk: {last.text}")
    return calls(call("desk", request=words_alone(last)))


class Delegator(Person):
    """Somebody whose tasks are done by the desk."""

    async def begin(self, client: Client, webhook: str) -> None:
        for kind in (WAITS, RUNS):
            request = asking(f"{kind} with {self.secret}")
            request.message.message_id = self.message_id(kind)
            async for event in client.send_message(request, context=self.proof()):
                if event.HasField("task"):
                    self.begun.add(event.task.id)
                    setattr(self, "waiting" if kind == WAITS else "running", event.task)
                    if kind == RUNS:
                        break
            async with asyncio.timeout(60):
                assert self.secret in await Below.begun.get()
        hook = pb.TaskPushNotificationConfig(task_id=self.waiting.id, id=self.webhook, url=webhook)
        await client.create_task_push_notification_config(hook, context=self.proof())


@dataclass
class Place:
    """An agent, over every binding, and who is known there.

    Attributes:
        clients: Its clients.
        owners: Those who have tasks.
        others: Those who have none.
    """

    clients: Sequence[Client]
    owners: list[Person] = field(default_factory=list)
    others: list[Person] = field(default_factory=list)

    async def reached(self) -> list[str]:
        """What anybody reached of an owner."""
        everybody = [*self.owners, *self.others]
        pairs = [(thief, owner) for thief in everybody for owner in self.owners if thief is not owner]
        found = []
        for number, (thief, owner) in enumerate(pairs):
            found += await trespasses(self.clients[number % len(self.clients)], thief, owner)
        return found


@dataclass
class Scene:
    """The supervisor and the desk below it."""

    above: Place
    below: Place


def _token(idp: Provider, agent: str, claims: dict[str, Any]) -> Callable[[], str]:
    return lambda: idp.token(agent, **claims)


def _signed(idp: Provider, signer: Signer, claims: dict[str, Any]) -> Callable[[], str]:
    tenant = claims.get("tenant", "acme")
    return lambda: signer.token(Desk.name, f"{idp.issuer()} {claims['sub']}", tenant=tenant)


async def _delegated(client: Client, person: Person) -> None:
    """Find the tasks that the supervisor has the desk do for somebody."""
    listed = await client.list_tasks(
        pb.ListTasksRequest(page_size=100, history_length=9), context=person.proof()
    )
    for task in listed.tasks:
        name = "waiting" if task.status.state == pb.TaskState.TASK_STATE_INPUT_REQUIRED else "running"
        setattr(person, name, task)
        person.begun.add(task.id)
        assert person.secret in str(task.history)
    assert len(listed.tasks) == 2


@asynccontextmanager
async def scene(home: Path) -> AsyncIterator[Scene]:
    """Serve both, and let everybody have the desk do something."""
    Desk.go, Below.begun = asyncio.Event(), asyncio.Queue()
    async with AsyncExitStack() as stack:
        idp = await stack.enter_async_context(provider())
        webhook = await stack.enter_async_context(listening(Hook()))
        common = {
            "AUTH_MODE": "oidc",
            "AUTH_ISSUERS": idp.issuers,
            "AUTH_TENANT_CLAIM": "tenant",
            "PUSH_ALLOW_PRIVATE": "true",
            "MAX_CONCURRENT_TURNS": "40",
            "CALLER_OPEN_REQUESTS": "0",
            "EMBEDDINGS_PROVIDER": "none",
        }

        async def place(kind: Any, script: Any, **environ: str) -> tuple[Place, str]:
            port = free_port()
            settings = {**common, "GRPC_PORT": str(port), **environ}
            url = await stack.enter_async_context(
                running_agent(kind, environ=settings, model=ScriptedModel(script=script), home=home)
            )
            served = Served(url, port, None)
            clients = [await stack.enter_async_context(served.client(Way(way, "1.0"))) for way in BINDINGS]
            return Place(clients), url

        below, url = await place(Below, [])
        above, top = await place(
            PlatformEngineer, delegates, SUB_AGENTS=f"desk={url}", SUB_AGENTS_SHARES="desk=results"
        )
        await until_ready(top)
        signer = Signer(service_key_in(home), SUPERVISOR)
        for number, (name, claims) in enumerate(WHO.items()):
            person = Delegator(name, _token(idp, SUPERVISOR, claims))
            await person.begin(above.clients[number % len(above.clients)], webhook)
            above.owners.append(person)
            served_for = Person(name, _signed(idp, signer, claims))
            await _delegated(below.clients[number % len(below.clients)], served_for)
            below.owners.append(served_for)
            below.others.append(Person(f"{name} in person", _token(idp, Desk.name, claims)))
        yield Scene(above, below)
        Desk.go.set()


async def test_nobody_reaches_through_the_supervisor_or_at_the_agent_what_it_does_for_another(
    tmp_path: Path,
) -> None:
    async with scene(tmp_path) as it:
        assert await it.above.reached() == []
        assert await it.below.reached() == []
        for number, person in enumerate(it.above.owners):
            client = it.above.clients[number % len(it.above.clients)]
            answer = asking("green", task_id=person.waiting.id, context_id=person.waiting.context_id)
            events = [event async for event in client.send_message(answer, context=person.proof())]
            assert "The desk: You chose green." in str(events), person.name
            running = await client.get_task(pb.GetTaskRequest(id=person.running.id), context=person.proof())
            assert running.status.state == pb.TaskState.TASK_STATE_WORKING
