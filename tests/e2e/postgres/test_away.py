"""While its database is away, an agent tells over every binding that it is, and when to come again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any

import grpc
import grpc.aio
import httpx
import pytest
from a2a.compat.v0_3 import a2a_v0_3_pb2, a2a_v0_3_pb2_grpc
from a2a.types import a2a_pb2, a2a_pb2_grpc

from tests.contract.test_smallest_agent import Namer
from tests.e2e.wire.wiring import HEADERS, message
from tests.ports import free_port
from tests.postgres import PostgresServer, running_server
from utils.testing.live_agent import running_agent
from utils.testing.scripted_model import ScriptedModel

pytestmark = [
    pytest.mark.servers,
    pytest.mark.timeout(300),
    pytest.mark.filterwarnings("ignore:.*:DeprecationWarning"),
]

AWAY = "The database cannot be reached. Try again in a moment."
VERSION = (("a2a-version", "1.0"),)
OLD = {"messageId": "m-old", "role": "user", "kind": "message", "parts": [{"kind": "text", "text": "hi"}]}
OLD_REST = {"message": {"messageId": "m", "role": "ROLE_USER", "content": [{"text": "hi"}]}}


def rpc(method: str, params: dict[str, Any], headers: dict[str, str] = HEADERS) -> tuple[Any, ...]:
    body = {"jsonrpc": "2.0", "id": 7, "method": method, "params": params}
    return "POST", "/", body, headers


HTTP: dict[str, tuple[Any, ...]] = {
    "JSON-RPC send": rpc("SendMessage", {"message": message()}),
    "JSON-RPC stream": rpc("SendStreamingMessage", {"message": message()}),
    "JSON-RPC get": rpc("GetTask", {"id": "t"}),
    "JSON-RPC list": rpc("ListTasks", {}),
    "JSON-RPC cancel": rpc("CancelTask", {"id": "t"}),
    "JSON-RPC subscribe": rpc("SubscribeToTask", {"id": "t"}),
    "JSON-RPC webhooks": rpc("ListTaskPushNotificationConfigs", {"taskId": "t"}),
    "JSON-RPC 0.3 send": rpc("message/send", {"message": OLD}, {}),
    "JSON-RPC 0.3 stream": rpc("message/stream", {"message": OLD}, {}),
    "JSON-RPC 0.3 get": rpc("tasks/get", {"id": "t"}, {}),
    "JSON-RPC 0.3 cancel": rpc("tasks/cancel", {"id": "t"}, {}),
    "REST send": ("POST", "/rest/message:send", {"message": message()}, HEADERS),
    "REST stream": ("POST", "/rest/message:stream", {"message": message()}, HEADERS),
    "REST get": ("GET", "/rest/tasks/t", None, HEADERS),
    "REST list": ("GET", "/rest/tasks", None, HEADERS),
    "REST cancel": ("POST", "/rest/tasks/t:cancel", {}, HEADERS),
    "REST subscribe": ("GET", "/rest/tasks/t:subscribe", None, HEADERS),
    "REST webhooks": ("GET", "/rest/tasks/t/pushNotificationConfigs", None, HEADERS),
    "REST webhook": ("GET", "/rest/tasks/t/pushNotificationConfigs/w", None, HEADERS),
    "JSON-RPC webhook": rpc("GetTaskPushNotificationConfig", {"taskId": "t", "id": "w"}),
    "JSON-RPC delete webhook": rpc("DeleteTaskPushNotificationConfig", {"taskId": "t", "id": "w"}),
    "JSON-RPC 0.3 subscribe": rpc("tasks/resubscribe", {"id": "t"}, {}),
    "JSON-RPC 0.3 webhooks": rpc("tasks/pushNotificationConfig/list", {"id": "t"}, {}),
    "REST 0.3 send": ("POST", "/rest/v1/message:send", OLD_REST, {}),
    "REST 0.3 stream": ("POST", "/rest/v1/message:stream", OLD_REST, {}),
    "REST 0.3 get": ("GET", "/rest/v1/tasks/t", None, {}),
    "REST 0.3 cancel": ("POST", "/rest/v1/tasks/t:cancel", {}, {}),
}


@pytest.fixture(scope="module")
def unsteady() -> Iterator[PostgresServer]:
    """A server that the test stops."""
    with running_server() as server:
        yield server


@pytest.fixture
async def away(unsteady: PostgresServer) -> AsyncIterator[tuple[httpx.AsyncClient, int]]:
    """An agent whose database has gone, and the port of its gRPC."""
    port = free_port()
    environ = {
        "DATABASE_URL": await unsteady.migrated(Namer.name),
        "DATABASE_CONNECT_SECONDS": "60",
        "DATABASE_WAIT_SECONDS": "0.3",
        "GRPC_PORT": str(port),
    }
    async with (
        running_agent(Namer, environ=environ, model=ScriptedModel.of()) as url,
        httpx.AsyncClient(base_url=url, trust_env=False, timeout=60) as http,
    ):
        await asyncio.to_thread(unsteady.stop)
        try:
            yield http, port
        finally:
            await asyncio.to_thread(unsteady.start)


async def test_over_http_each_operation_answers_503_and_when_to_come_again(
    away: tuple[httpx.AsyncClient, int],
) -> None:
    http, _ = away
    ways = [
        http.request(method, path, json=body, headers=headers)
        for method, path, body, headers in HTTP.values()
    ]
    answers = dict(zip(HTTP, await asyncio.gather(*ways), strict=True))
    told = {way: (each.status_code, each.headers.get("Retry-After")) for way, each in answers.items()}
    assert told == dict.fromkeys(HTTP, (503, "2"))
    assert {way for way, each in answers.items() if AWAY not in each.text} == set()
    error = answers["JSON-RPC send"].json()["error"]
    assert error["code"] == -32603
    assert error["data"][0]["reason"] == "STORAGE_FAILED"
    assert error["data"][0]["metadata"] == {"retry_after": 2}
    rest = answers["REST get"].json()["error"]
    assert (rest["code"], rest["status"]) == (503, "UNAVAILABLE")


async def test_over_grpc_each_operation_is_unavailable_and_tells_when_to_come_again(
    away: tuple[httpx.AsyncClient, int],
) -> None:
    _, port = away
    sent = a2a_pb2.SendMessageRequest(
        message={"message_id": "m", "role": "ROLE_USER", "parts": [{"text": "hi"}]}
    )
    old_sent = a2a_v0_3_pb2.SendMessageRequest(
        request={"message_id": "m", "role": "ROLE_USER", "content": [{"text": "hi"}]}
    )
    async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
        now, old = a2a_pb2_grpc.A2AServiceStub(channel), a2a_v0_3_pb2_grpc.A2AServiceStub(channel)
        calls = {
            "send": now.SendMessage(sent, metadata=VERSION),
            "stream": now.SendStreamingMessage(sent, metadata=VERSION).read(),
            "get": now.GetTask(a2a_pb2.GetTaskRequest(id="t"), metadata=VERSION),
            "list": now.ListTasks(a2a_pb2.ListTasksRequest(), metadata=VERSION),
            "cancel": now.CancelTask(a2a_pb2.CancelTaskRequest(id="t"), metadata=VERSION),
            "subscribe": now.SubscribeToTask(a2a_pb2.SubscribeToTaskRequest(id="t"), metadata=VERSION).read(),
            "webhooks": now.ListTaskPushNotificationConfigs(
                a2a_pb2.ListTaskPushNotificationConfigsRequest(task_id="t"), metadata=VERSION
            ),
            "0.3 send": old.SendMessage(old_sent),
            "0.3 stream": old.SendStreamingMessage(old_sent).read(),
            "0.3 get": old.GetTask(a2a_v0_3_pb2.GetTaskRequest(name="tasks/t")),
            "0.3 cancel": old.CancelTask(a2a_v0_3_pb2.CancelTaskRequest(name="tasks/t")),
            "0.3 subscribe": old.TaskSubscription(
                a2a_v0_3_pb2.TaskSubscriptionRequest(name="tasks/t")
            ).read(),
        }
        told = {}
        for name, call in calls.items():
            with pytest.raises(grpc.aio.AioRpcError) as refused:
                await call
            trailing = dict(refused.value.trailing_metadata() or ())
            told[name] = (refused.value.code(), refused.value.details(), trailing.get("retry-after"))
    assert told == dict.fromkeys(calls, (grpc.StatusCode.UNAVAILABLE, AWAY, "2"))
