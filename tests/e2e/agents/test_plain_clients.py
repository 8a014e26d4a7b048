"""A client that takes text alone is shown less of a question, and may approve no more: by every binding, and after a restart."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import pytest
from a2a.client import Client
from a2a.client.client import ClientCallContext
from a2a.types.a2a_pb2 import (
    GetTaskRequest,
    ListTasksRequest,
    Message,
    SendMessageRequest,
    StreamResponse,
    Task,
    TaskState,
)
from a2a.utils.errors import A2AError, InvalidParamsError
from google.protobuf import json_format

from tests.e2e.agents.test_proven_answers import DELETE, DELETED, Depot
from tests.e2e.auth.provider import provider
from tests.e2e.delegation.teams import Asker
from tests.e2e.wire.ways import WAYS, Served, Way, asking
from tests.ports import free_port
from utils.a2a_common.base_langgraph_agent import BaseLangGraphAgent
from utils.a2a_common.protocol.extensions import QUESTION_EXTENSION
from utils.a2a_common.protocol.parts import data_part
from utils.testing.live_agent import running_agent
from utils.testing.scripted_model import ScriptedModel, call, calls

pytestmark = [pytest.mark.filterwarnings("ignore:.*:DeprecationWarning"), pytest.mark.timeout(300)]

PLAIN = ["text/plain"]
CURRENT = [way for way in WAYS if way.version == "1.0"]
USE = "agent:depot:use"


@asynccontextmanager
async def serving(
    agent: type[BaseLangGraphAgent], script: Sequence[Any], home: Path, **environ: str
) -> AsyncIterator[Served]:
    """An agent that listens over all bindings, as its own process would."""
    settings = {"GRPC_PORT": str(free_port()), "EMBEDDINGS_PROVIDER": "none", **environ}
    model = ScriptedModel(script=list(script))
    async with running_agent(agent, environ=settings, model=model, home=home) as url:
        yield Served(url, int(settings["GRPC_PORT"]), None)


async def said(client: Client, request: SendMessageRequest, token: str = "") -> list[StreamResponse]:
    """Everything that comes back to a message, with a token where one is given."""
    parameters = {"Authorization": f"Bearer {token}"} if token else {}
    context = ClientCallContext(service_parameters=parameters)
    return [event async for event in client.send_message(request, context=context)]


def question_in(events: Sequence[StreamResponse]) -> tuple[dict[str, str], Message]:
    """Where the answer goes, and the question."""
    update = events[-1].status_update
    assert update.status.state == TaskState.TASK_STATE_INPUT_REQUIRED, events[-1]
    return {"task_id": update.task_id, "context_id": update.context_id}, update.status.message


def state_of(events: Sequence[StreamResponse]) -> str:
    return TaskState.Name(events[-1].status_update.status.state)


@pytest.mark.parametrize("way", CURRENT, ids=str)
@pytest.mark.parametrize("modes", [PLAIN, ["text/markdown", "image/png"]], ids=str)
async def test_who_may_not_approve_cannot_as_a_client_of_text_alone_either(
    modes: list[str], way: Way, tmp_path: Path
) -> None:
    DELETED.clear()
    async with provider() as idp:
        auth = {"AUTH_MODE": "oidc", "AUTH_ISSUERS": idp.issuers}
        async with serving(Depot, [calls(DELETE), "Done."], tmp_path, **auth) as it, it.client(way) as client:
            ann = idp.token("depot", sub="ann")
            where, shown = question_in(await said(client, asking("Do it.", accepts=modes), ann))
            assert [part.WhichOneof("content") for part in shown.parts] == ["text"]
            for refused in ({"scope": USE}, {"act": {"sub": "robot"}}, {"client_id": "ann"}):
                token = idp.token("depot", sub="ann", **refused)
                for answer in ("yes", data_part({"approve": True})):
                    with pytest.raises(A2AError, match=r"do not allow approvals|403 Forbidden"):
                        await said(client, asking(answer, accepts=modes, **where), token)
            assert DELETED == []
            assert state_of(await said(client, asking("yes", accepts=modes, **where), ann)) == (
                "TASK_STATE_COMPLETED"
            )
    assert DELETED == ["b"]


@pytest.mark.parametrize("way", WAYS, ids=str)
async def test_a_caller_without_a_name_needs_the_nonce_where_the_asker_takes_text_alone(
    way: Way, tmp_path: Path
) -> None:
    DELETED.clear()
    async with serving(Depot, [calls(DELETE), "Done."], tmp_path) as it, it.client(way) as client:
        where, shown = question_in(await said(client, asking("Do it.", accepts=PLAIN)))
        nonce = json_format.MessageToDict(shown.metadata)[QUESTION_EXTENSION]["nonce"]
        for answer in ("yes", data_part({"approve": True})):
            with pytest.raises(
                A2AError
            ):  # its sentence, not over HTTP+JSON 0.3: the SDK's client reads no body there
                await said(client, asking(answer, **where))
        assert DELETED == []
        proof = {QUESTION_EXTENSION: {"nonce": nonce}}
        done = await said(client, asking("yes", metadata=proof, accepts=PLAIN, **where))
        assert state_of(done) == "TASK_STATE_COMPLETED"
    assert DELETED == ["b"]


@pytest.mark.parametrize("way", CURRENT, ids=str)
async def test_data_that_does_not_fill_a_form_is_refused_where_the_asker_takes_text_alone(
    way: Way, tmp_path: Path
) -> None:
    script = [calls(call("where")), "Found 3 places."]
    async with serving(Asker, script, tmp_path) as it, it.client(way) as client:
        where, _ = question_in(await said(client, asking("Find a hotel", accepts=PLAIN)))
        with pytest.raises(InvalidParamsError, match="city is missing"):
            await said(client, asking(data_part({"stars": 3}), **where))
        done = await said(client, asking(data_part({"city": "Rome"}), **where))
        assert state_of(done) == "TASK_STATE_COMPLETED"


async def test_the_form_that_is_not_shown_as_a_part_is_in_the_metadata_wherever_the_task_is_shown(
    tmp_path: Path,
) -> None:
    way = CURRENT[0]
    async with serving(Depot, [calls(DELETE)], tmp_path) as it, it.client(way) as client:
        where, shown = question_in(await said(client, asking("Do it.", accepts=PLAIN)))
    async with serving(Depot, [], tmp_path) as it, it.client(way) as client:  # as another process shows it
        got = await client.get_task(GetTaskRequest(id=where["task_id"]))
        listed = (await client.list_tasks(ListTasksRequest())).tasks[0]
        subscribed = [shown, got.status.message, listed.status.message]
    for message in subscribed:
        assert [part.WhichOneof("content") for part in message.parts] == ["text"]
        asked = json_format.MessageToDict(message.metadata)[QUESTION_EXTENSION]
        assert set(asked["form"]["properties"]) == {"approve", "digest"}


async def test_a_question_that_an_earlier_version_stored_without_its_form_is_asked_again_and_not_approved(
    tmp_path: Path,
) -> None:
    DELETED.clear()
    way = CURRENT[0]
    async with serving(Depot, [calls(DELETE)], tmp_path) as it, it.client(way) as client:
        where, _ = question_in(await said(client, asking("Do it.", accepts=PLAIN)))
    as_stored_before(tmp_path / "depot" / "tasks.sqlite")
    async with serving(Depot, ["Done."], tmp_path) as it, it.client(way) as client:
        _, again = question_in(await said(client, asking("yes", **where)))
        assert "May I delete a thing?" in again.parts[0].text
        with pytest.raises(A2AError, match="only the browser tab, terminal or program that sent the request"):
            await said(client, asking("yes", **where))
    assert DELETED == []


def as_stored_before(tasks: Path) -> None:
    """Take the form out of the question of the only task, as the version before left it out."""
    with closing(sqlite3.connect(tasks)) as db, db:
        (body,) = db.execute("SELECT body FROM tasks").fetchone()
        head = Task.FromString(body)
        asked = head.status.message.metadata.fields[QUESTION_EXTENSION].struct_value
        del asked.fields["form"]
        db.execute("UPDATE tasks SET body = ?", (head.SerializeToString(),))
