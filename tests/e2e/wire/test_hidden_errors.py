"""What fails inside is an error over every binding, and shows nothing of itself."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import grpc.aio
import pytest
from a2a.types import a2a_pb2_grpc
from a2a.types.a2a_pb2 import GetTaskRequest, Message, Part, Role, SendMessageRequest, TaskState

from tests.e2e.wire.agents import Stage
from tests.e2e.wire.wiring import HEADERS, Wire, message, serving
from utils.a2a_common.handler.request_handler import PlatformRequestHandler
from utils.a2a_common.tasks.log import TaskLog
from utils.errors import StorageError

NAMED = re.compile(r"report it to the operator\. \(trace [0-9a-f]{32}\)$")
SECRET = "hunter2 at /srv/tasks.sqlite"
OLD = {"kind": "message", "messageId": "m", "role": "user", "parts": [{"kind": "text", "text": "hi"}]}
OLD_REST = {"message": {"messageId": "m", "role": "ROLE_USER", "content": [{"text": "hi"}]}}
VERSION = (("a2a-version", "1.0"),)


async def half(stage: Stage) -> None:
    await stage.task()
    await stage.status(TaskState.TASK_STATE_WORKING)
    await stage.chunk("half", append=False)
    await stage.status(TaskState.TASK_STATE_COMPLETED)


@pytest.fixture
async def wire() -> AsyncIterator[Wire]:
    async with serving(half, settings={"GRPC_PORT": "0"}) as wire:
        yield wire


@asynccontextmanager
async def grpc_stub(wire: Wire) -> AsyncIterator[Any]:
    async with grpc.aio.insecure_channel(f"127.0.0.1:{wire.app.state.grpc_port}") as channel:
        yield a2a_pb2_grpc.A2AServiceStub(channel)


async def test_a_broken_store_shows_nothing_of_itself_over_any_binding(
    wire: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_: Any, **__: Any) -> Any:
        raise RuntimeError(SECRET)

    monkeypatch.setattr(TaskLog, "snapshot", broken)
    answers = [await wire.rpc("GetTask", {"id": "t"}), await wire.rpc("tasks/get", {"id": "t"}, {})]
    for path, headers in (("/rest/tasks/t", HEADERS), ("/rest/v1/tasks/t", {})):
        answer = await wire.http.get(wire.url + path, headers=headers)
        assert answer.status_code == 500
        answers.append(answer.json())
    async with grpc_stub(wire) as stub:
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await stub.GetTask(GetTaskRequest(id="t"), metadata=VERSION)
    assert refused.value.code() == grpc.StatusCode.INTERNAL
    for told in (*answers, {"error": {"message": str(refused.value.details())}}):
        assert "hunter2" not in str(told)
        assert "RuntimeError" not in str(told)
        assert NAMED.search(told["error"]["message"])
    assert "hunter2" not in str(refused.value)


async def test_a_failure_of_the_storage_has_the_trace_id_of_its_caller_which_the_log_has_too(
    wire: Wire, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    async def broken(*_: Any, **__: Any) -> Any:
        raise StorageError("The database failed. Try again.")

    monkeypatch.setattr(TaskLog, "snapshot", broken)
    trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    headers = {**HEADERS, "traceparent": f"00-{trace}-00f067aa0ba902b7-01"}
    told = await wire.rpc("GetTask", {"id": "t"}, headers)
    assert told["error"]["message"] == f"The database failed. Try again. (trace {trace})"
    logged = [line for line in capfd.readouterr().out.splitlines() if "request.failed" in line]
    assert len(logged) == 1
    assert trace in logged[0]


@pytest.fixture
def breaking(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every stream breaks after its first event."""
    whole = PlatformRequestHandler._events

    async def cut(self: Any, course: Any) -> AsyncIterator[Any]:
        async for event in whole(self, course):
            yield event
            raise RuntimeError(SECRET)

    monkeypatch.setattr(PlatformRequestHandler, "_events", cut)


STREAMS: dict[str, tuple[str, dict[str, str], dict[str, Any]]] = {
    "json-rpc 1.0": (
        "/",
        HEADERS,
        {"jsonrpc": "2.0", "id": 1, "method": "SendStreamingMessage", "params": {"message": message()}},
    ),
    "json-rpc 0.3": (
        "/",
        {},
        {"jsonrpc": "2.0", "id": 1, "method": "message/stream", "params": {"message": OLD}},
    ),
    "rest 1.0": ("/rest/message:stream", HEADERS, {"message": message()}),
    "rest 0.3": ("/rest/v1/message:stream", {}, OLD_REST),
}


@pytest.mark.parametrize("binding", STREAMS)
async def test_a_stream_that_fails_midway_ends_with_an_error_that_shows_nothing(
    wire: Wire, breaking: None, binding: str
) -> None:
    path, headers, body = STREAMS[binding]
    async with asyncio.timeout(60):
        async with wire.http.stream("POST", wire.url + path, json=body, headers=headers) as answer:
            told = [line[5:].strip() async for line in answer.aiter_lines() if line.startswith("data:")]
    assert len(told) == 2
    assert "error" not in json.loads(told[0])
    assert NAMED.search(json.loads(told[1])["error"]["message"])
    assert "hunter2" not in str(told)


async def test_a_grpc_stream_that_fails_midway_ends_with_an_error_that_shows_nothing(
    wire: Wire, breaking: None
) -> None:
    said = Message(message_id="m", role=Role.ROLE_USER, parts=[Part(text="hi")])
    async with grpc_stub(wire) as stub:
        events = stub.SendStreamingMessage(SendMessageRequest(message=said), metadata=VERSION)
        assert (await events.read()).WhichOneof("payload") == "task"
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await events.read()
    assert refused.value.code() == grpc.StatusCode.INTERNAL
    assert "hunter2" not in str(refused.value)
