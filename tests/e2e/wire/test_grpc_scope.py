"""Over gRPC a caller reaches their own tasks and nobody else's."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import grpc
import grpc.aio
import httpx
import pytest
from a2a.auth.user import UnauthenticatedUser, User
from a2a.types import a2a_pb2 as pb
from a2a.types import a2a_pb2_grpc

from tests.e2e.wire.agents import Scripted, card, echo
from tests.e2e.wire.test_life_cycle import Gate
from tests.e2e.wire.test_scope import AUTH, as_user
from tests.e2e.wire.wiring import Wire
from tests.support.task_logs import memory_log
from utils.a2a_common.server.agent_service import AgentService
from utils.a2a_common.server.app import build_app
from utils.errors import SettingsError
from utils.settings import ServerSettings
from utils.testing.live_server import running

GRPC = ServerSettings.load({"GRPC_PORT": "0"})
ANN, BOB = (tuple((name.lower(), value) for name, value in as_user(who).items()) for who in ("ann", "bob"))
NOBODY = (("a2a-version", "1.0"),)


class Named(User):
    def __init__(self, name: str) -> None:
        self._name = name

    @property
    def is_authenticated(self) -> bool:
        return True

    @property
    def user_name(self) -> str:
        return self._name


def by_header(metadata: Mapping[str, str]) -> User:
    """Believes the user that basic credentials name, as the middleware of the HTTP tests does."""
    header = metadata.get("authorization", "")
    return Named(base64.b64decode(header[6:]).decode()) if header else UnauthenticatedUser()


@asynccontextmanager
async def serving(gate: Gate) -> AsyncIterator[tuple[Any, Wire]]:
    log = memory_log()
    agent = Scripted(gate)
    service = AgentService(
        card=card(), executor=agent, log=log, middleware=AUTH, grpc_user=by_header, extended_card=card()
    )
    app = build_app(service, GRPC)
    async with (
        running(app) as url,
        httpx.AsyncClient(trust_env=False, timeout=60) as http,
        grpc.aio.insecure_channel(f"127.0.0.1:{app.state.grpc_port}") as channel,
    ):
        yield a2a_pb2_grpc.A2AServiceStub(channel), Wire(url, http, app, agent)


def request(tenant: str = "", **fields: Any) -> pb.SendMessageRequest:
    said = pb.Message(message_id="m", role=pb.Role.ROLE_USER, parts=[pb.Part(text="hi")], **fields)
    at_once = pb.SendMessageConfiguration(return_immediately=True)
    return pb.SendMessageRequest(message=said, tenant=tenant, configuration=at_once)


OPERATIONS: Mapping[str, Callable[[Any, str, str], Any]] = {
    "get": lambda stub, task, tenant: (stub.GetTask, pb.GetTaskRequest(id=task, tenant=tenant)),
    "cancel": lambda stub, task, tenant: (stub.CancelTask, pb.CancelTaskRequest(id=task, tenant=tenant)),
    "subscribe": lambda stub, task, tenant: (
        stub.SubscribeToTask,
        pb.SubscribeToTaskRequest(id=task, tenant=tenant),
    ),
    "send": lambda stub, task, tenant: (stub.SendMessage, request(tenant, task_id=task)),
    "push": lambda stub, task, tenant: (
        stub.ListTaskPushNotificationConfigs,
        pb.ListTaskPushNotificationConfigsRequest(task_id=task, tenant=tenant),
    ),
}


async def reached(stub: Any, task: str, metadata: Any, tenant: str = "") -> list[str]:
    """The operations that reach a task of somebody; NOT_FOUND is the only answer that does not."""
    found = []
    for name, operation in OPERATIONS.items():
        method, asked = operation(stub, task, tenant)
        call = method(asked, metadata=metadata)
        try:
            await (call.read() if name == "subscribe" else call)
            found.append(name)
        except grpc.aio.AioRpcError as error:
            if error.code() != grpc.StatusCode.NOT_FOUND:
                found.append(f"{name}: {error.code().name}")
    listed = await stub.ListTasks(pb.ListTasksRequest(tenant=tenant), metadata=metadata)
    return found + ["list"] * (task in [each.id for each in listed.tasks])


async def test_over_grpc_a_user_reaches_no_task_of_another() -> None:
    gate = Gate()
    async with asyncio.timeout(60), serving(gate) as (stub, wire):
        task = (await stub.SendMessage(request(), metadata=ANN)).task
        await gate.entered.wait()
        assert await reached(stub, task.id, BOB) == []
        assert await reached(stub, task.id, NOBODY) == []
        assert "error" in await wire.rpc("GetTask", {"id": task.id}, as_user("bob"))
        assert "result" in await wire.rpc("GetTask", {"id": task.id}, as_user("ann"))
        assert not wire.agent.cancelled.is_set()
        events = stub.SubscribeToTask(pb.SubscribeToTaskRequest(id=task.id), metadata=ANN)
        assert (await events.read()).task.id == task.id
        gate.open.set()
        last = await events.read()
        while last.status_update.status.state == pb.TaskState.TASK_STATE_WORKING or not last.HasField(
            "status_update"
        ):
            last = await events.read()
        assert last.status_update.status.state == pb.TaskState.TASK_STATE_COMPLETED


async def test_over_grpc_a_tenant_reaches_no_task_of_another() -> None:
    gate = Gate()
    async with asyncio.timeout(60), serving(gate) as (stub, wire):
        task = (await stub.SendMessage(request("one"), metadata=ANN)).task
        await gate.entered.wait()
        assert await reached(stub, task.id, ANN, "two") == []
        assert await reached(stub, task.id, ANN) == []
        own = pb.GetTaskRequest(id=task.id, tenant="one")
        assert (await stub.GetTask(own, metadata=ANN)).status.state == pb.TaskState.TASK_STATE_WORKING
        assert not wire.agent.cancelled.is_set()
        gate.open.set()


async def test_a_caller_over_grpc_is_the_caller_over_http() -> None:
    gate = Gate()
    gate.open.set()
    async with asyncio.timeout(60), serving(gate) as (stub, wire):
        listed = pb.GetExtendedAgentCardRequest()
        assert (await stub.GetExtendedAgentCard(listed, metadata=ANN)).name == "Echo"
        with pytest.raises(grpc.aio.AioRpcError):
            await stub.GetExtendedAgentCard(listed, metadata=NOBODY)
        task = await wire.send(headers=as_user("ann"))
        assert (await stub.GetTask(pb.GetTaskRequest(id=task["id"]), metadata=ANN)).id == task["id"]


def test_an_agent_that_knows_its_callers_over_http_only_has_no_grpc() -> None:
    service = AgentService(card=card(), executor=Scripted(echo), log=memory_log(), middleware=AUTH)
    with pytest.raises(SettingsError, match="GRPC_PORT"):
        build_app(service, GRPC)
