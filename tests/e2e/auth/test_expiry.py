"""A token that ends while a stream is open: the stream goes on to the end of its turn, and nothing new begins with it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from a2a.client import Client
from a2a.client.client import ClientCallContext
from a2a.client.errors import A2AClientError
from a2a.types import a2a_pb2 as pb

from tests.e2e.auth.people import RUNS, Desk
from tests.e2e.auth.provider import Provider, provider
from tests.e2e.wire.ways import Served, Way, asking, served
from utils.auth.authenticator import Authenticator
from utils.testing.scripted_model import ScriptedModel

pytestmark = [pytest.mark.filterwarnings("ignore:.*:DeprecationWarning"), pytest.mark.timeout(300)]

MINUTES = 600.0
DONE = pb.TaskState.TASK_STATE_COMPLETED


@dataclass
class Scene:
    """An agent whose clock the test moves.

    Attributes:
        idp: Whose tokens it takes.
        agent: Where it is.
        ahead: Seconds by which its clock is ahead.
    """

    idp: Provider
    agent: Served
    ahead: float = 0.0

    def proof(self) -> ClientCallContext:
        """A token that lasts five minutes from now."""
        token = self.idp.token(Desk.name, exp=int(time.time() + self.ahead + 300))
        return ClientCallContext(service_parameters={"Authorization": f"Bearer {token}"})


@pytest.fixture
async def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Scene]:
    Desk.go = asyncio.Event()
    async with provider() as idp:
        made = Scene(idp, Served("", 0, None))
        defaults = Authenticator.__init__.__kwdefaults__ or {}
        monkeypatch.setitem(defaults, "clock", lambda: time.time() + made.ahead)
        environ = {"AUTH_MODE": "oidc", "AUTH_ISSUERS": idp.issuer(), "AUTH_TENANT_CLAIM": "tenant"}
        async with served(
            Desk, ScriptedModel.of(), tmp_path, EMBEDDINGS_PROVIDER="none", **environ
        ) as made.agent:
            yield made


async def refused(client: Client, proof: ClientCallContext, task_id: str) -> list[str]:
    """What each way to begin something, or to see it, is told."""
    told = []
    for begin in (
        lambda: client.send_message(asking("Hello."), context=proof),
        lambda: client.subscribe(pb.SubscribeToTaskRequest(id=task_id), context=proof),
    ):
        with pytest.raises(A2AClientError) as error:
            [event async for event in begin()]
        told.append(str(error.value))
    with pytest.raises(A2AClientError) as error:
        await client.get_task(pb.GetTaskRequest(id=task_id), context=proof)
    return [*told, str(error.value)]


@pytest.mark.parametrize("binding", ["JSONRPC", "HTTP+JSON", "GRPC"])
async def test_a_stream_goes_on_to_the_end_of_its_turn_and_nothing_new_begins_with_an_old_token(
    scene: Scene, binding: str
) -> None:
    async with scene.agent.client(Way(binding, "1.0")) as client, asyncio.timeout(60):
        proof = scene.proof()
        stream = aiter(client.send_message(asking(f"{RUNS}, please"), context=proof))
        task_id = (await anext(stream)).task.id
        follower = aiter(client.subscribe(pb.SubscribeToTaskRequest(id=task_id), context=proof))
        assert (await anext(follower)).task.id == task_id
        scene.ahead = MINUTES
        for told in await refused(client, proof, task_id):
            assert "401" in told or "UNAUTHENTICATED" in told, told
        Desk.go.set()
        for events in (stream, follower):
            *_, last = [event async for event in events]
            assert last.status_update.status.state == DONE
        task = await client.get_task(pb.GetTaskRequest(id=task_id), context=scene.proof())
        assert "".join(part.text for part in task.artifacts[0].parts) == "Begun. "
