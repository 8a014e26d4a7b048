"""Turns that are refused for now: too many wait, or the process is about to stop."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import grpc
import grpc.aio
import pytest
from a2a.compat.v0_3 import a2a_v0_3_pb2, a2a_v0_3_pb2_grpc
from a2a.types import a2a_pb2, a2a_pb2_grpc

from tests.e2e.wire.agents import Stage
from tests.e2e.wire.wiring import HEADERS, Wire, message, serving, state

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")

FULL = {
    "MAX_CONCURRENT_TURNS": "1",
    "MAX_WAITING_TURNS": "0",
    "SHUTDOWN_PAUSE_SECONDS": "0",
    "GRPC_PORT": "0",
}
OLD = {"messageId": "m-old", "role": "user", "kind": "message", "parts": [{"kind": "text", "text": "hi"}]}


class Gate:
    """An agent that works until it is let go."""

    def __init__(self) -> None:
        self.go, self.began = asyncio.Event(), asyncio.Event()

    async def __call__(self, stage: Stage) -> None:
        await stage.task()
        await stage.status(a2a_pb2.TaskState.TASK_STATE_WORKING)
        self.began.set()
        await self.go.wait()
        await stage.status(a2a_pb2.TaskState.TASK_STATE_COMPLETED)


@asynccontextmanager
async def busy() -> AsyncIterator[tuple[Wire, Gate]]:
    """An agent all of whose places are taken."""
    gate = Gate()
    async with serving(gate, settings=FULL) as wire:
        await wire.start()
        await gate.began.wait()
        yield wire, gate
        gate.go.set()


def rpc(method: str, sent: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    return "/", {"jsonrpc": "2.0", "id": 7, "method": method, "params": {"message": sent}}


HTTP = {
    "JSON-RPC 1.0": (*rpc("SendMessage", message()), HEADERS),
    "JSON-RPC 1.0, stream": (*rpc("SendStreamingMessage", message()), HEADERS),
    "JSON-RPC 0.3": (*rpc("message/send", OLD), {}),
    "JSON-RPC 0.3, stream": (*rpc("message/stream", OLD), {}),
    "REST 1.0": ("/rest/message:send", {"message": message()}, HEADERS),
    "REST 1.0, stream": ("/rest/message:stream", {"message": message()}, HEADERS),
    "REST 0.3": ("/rest/v1/message:send", {"message": {"messageId": "m", "role": "ROLE_USER", "content": [{"text": "hi"}]}}, {}),
    "REST 0.3, stream": ("/rest/v1/message:stream", {"message": {"messageId": "m", "role": "ROLE_USER", "content": [{"text": "hi"}]}}, {}),
}  # fmt: skip


@pytest.mark.parametrize("way", HTTP)
async def test_past_the_line_every_http_binding_answers_503_and_when_to_come_again(way: str) -> None:
    path, body, headers = HTTP[way]
    async with busy() as (wire, _):
        answer = await wire.http.post(f"{wire.url}{path}", json=body, headers=headers)
    assert answer.status_code == 503
    assert int(answer.headers["Retry-After"]) >= 1
    assert "Too many requests are waiting" in answer.text


async def test_the_body_says_why_and_how_long_for_programs() -> None:
    async with busy() as (wire, _):
        path, body, headers = HTTP["JSON-RPC 1.0"]
        told = (await wire.http.post(f"{wire.url}{path}", json=body, headers=headers)).json()
        path, body, headers = HTTP["REST 1.0"]
        rest = (await wire.http.post(f"{wire.url}{path}", json=body, headers=headers)).json()
    assert (told["id"], told["error"]["code"]) == (7, -32603)
    assert told["error"]["data"][0]["reason"] == "OVERLOADED"
    assert told["error"]["data"][0]["metadata"] == {"retry_after": 1}
    assert (rest["error"]["code"], rest["error"]["status"]) == (503, "RESOURCE_EXHAUSTED")


async def refused_over_grpc(wire: Wire) -> list[tuple[grpc.StatusCode, str]]:
    """The status of each gRPC call, and how long it says to wait."""
    found = []
    async with grpc.aio.insecure_channel(f"127.0.0.1:{wire.app.state.grpc_port}") as channel:
        now, old = a2a_pb2_grpc.A2AServiceStub(channel), a2a_v0_3_pb2_grpc.A2AServiceStub(channel)
        sent = a2a_pb2.SendMessageRequest(
            message={"message_id": "m", "role": "ROLE_USER", "parts": [{"text": "hi"}]}
        )
        sent_old = a2a_v0_3_pb2.SendMessageRequest(
            request={"message_id": "m", "role": "ROLE_USER", "content": [{"text": "hi"}]}
        )
        metadata = (("a2a-version", "1.0"),)
        for call in (now.SendMessage(sent, metadata=metadata), old.SendMessage(sent_old)):
            with pytest.raises(grpc.aio.AioRpcError) as refused:
                await call
            found.append(refused.value)
        for stream in (
            now.SendStreamingMessage(sent, metadata=metadata),
            old.SendStreamingMessage(sent_old),
        ):
            with pytest.raises(grpc.aio.AioRpcError) as refused:
                await stream.read()
            found.append(refused.value)
    return [(each.code(), dict(each.trailing_metadata())["retry-after"]) for each in found]


async def test_past_the_line_grpc_answers_resource_exhausted_and_when_to_come_again() -> None:
    async with busy() as (wire, _):
        assert await refused_over_grpc(wire) == [(grpc.StatusCode.RESOURCE_EXHAUSTED, "1")] * 4


async def test_while_it_drains_an_agent_is_not_ready_and_refuses_new_turns() -> None:
    async with busy() as (wire, gate):
        drained = asyncio.create_task(wire.app.state.drain())
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        ready = await wire.http.get(f"{wire.url}/readyz")
        path, body, headers = HTTP["JSON-RPC 1.0"]
        answer = await wire.http.post(f"{wire.url}{path}", json=body, headers=headers)
        over_grpc = await refused_over_grpc(wire)
        gate.go.set()
        await drained
    assert (ready.status_code, ready.json()["detail"]) == (503, "The agent is stopping.")
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "5")
    assert answer.json()["error"]["data"][0]["reason"] == "DRAINING"
    assert over_grpc == [(grpc.StatusCode.UNAVAILABLE, "5")] * 4


async def test_a_message_that_was_refused_is_served_later_under_its_own_id() -> None:
    async with busy() as (wire, gate):
        sent = message(messageId="again")
        body = {"jsonrpc": "2.0", "id": 7, "method": "SendMessage", "params": {"message": sent}}
        refused = await wire.http.post(f"{wire.url}/", json=body, headers=HEADERS)
        gate.go.set()
        async with asyncio.timeout(60):
            served = refused
            while served.status_code == 503:
                served = await wire.http.post(f"{wire.url}/", json=body, headers=HEADERS)
    assert refused.status_code == 503
    assert state(served.json()["result"]["task"]) == "completed"


async def test_what_is_read_is_answered_while_turns_are_refused() -> None:
    async with busy() as (wire, _):
        listed = await wire.rpc("ListTasks", {})
        answers = await asyncio.gather(*(wire.get(task["id"]) for task in listed["result"]["tasks"]))
    assert [state(task) for task in answers] == ["working"]


@pytest.mark.parametrize("way", ["JSON-RPC 1.0", "JSON-RPC 1.0, stream"])
async def test_a_turn_that_is_kept_before_its_first_event_is_answered_with_when_to_come_again(
    way: str,
) -> None:
    began = asyncio.Event()

    async def silent(stage: Stage) -> None:
        began.set()
        await asyncio.Event().wait()

    path, body, headers = HTTP[way]
    async with serving(silent, settings=FULL | {"SHUTDOWN_GRACE_SECONDS": "0"}) as wire:
        wire.agent.resumable = True
        call = asyncio.create_task(wire.http.post(f"{wire.url}{path}", json=body, headers=headers))
        await began.wait()
        await wire.app.state.drain()
        answer = await call
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "5")
