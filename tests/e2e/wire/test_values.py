"""Values that JSON cannot say, nesting that storage cannot read, and messages of too many parts, over every binding."""

from __future__ import annotations

import json
import math
import sqlite3
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import grpc
import grpc.aio
import httpx
import pytest
from a2a.auth.user import UnauthenticatedUser
from a2a.compat.v0_3 import a2a_v0_3_pb2, a2a_v0_3_pb2_grpc
from a2a.server.context import ServerCallContext
from a2a.types import a2a_pb2 as pb
from a2a.types import a2a_pb2_grpc
from google.protobuf import struct_pb2
from structlog.testing import capture_logs

from tests.e2e.wire.agents import Stage, echo
from tests.e2e.wire.wiring import HEADERS, Wire, message, serving, state
from tests.support.task_logs import sqlite_log
from utils.a2a_common.handler.message_rules import MAX_PARTS
from utils.a2a_common.protocol.json_values import MAX_NESTING, MAX_VALUES
from utils.a2a_common.protocol.owner import owner_of

VERSION = (("a2a-version", "1.0"),)
NOT_NUMBERS = (math.nan, math.inf, -math.inf)
UNREADABLE = "cannot be shown"


@asynccontextmanager
async def both(script: Any = echo, **options: Any) -> AsyncIterator[tuple[Wire, grpc.aio.Channel]]:
    """A served agent over HTTP and gRPC."""
    async with (
        serving(script, settings={"GRPC_PORT": "0"}, **options) as wire,
        grpc.aio.insecure_channel(f"127.0.0.1:{wire.app.state.grpc_port}") as channel,
    ):
        yield wire, channel


def number(value: float) -> struct_pb2.Value:
    return struct_pb2.Value(number_value=value)


def struct(value: struct_pb2.Value) -> struct_pb2.Struct:
    return struct_pb2.Struct(fields={"x": value})


def said(**fields: Any) -> pb.Message:
    return pb.Message(
        **{"message_id": "m", "role": pb.Role.ROLE_USER, "parts": [pb.Part(text="hi")], **fields}
    )


def requests_with(value: struct_pb2.Value) -> list[pb.SendMessageRequest]:
    """A request for each place of protocol 1.0 where a client may put a value."""
    listed = struct_pb2.Value(list_value=struct_pb2.ListValue(values=[value]))
    return [
        pb.SendMessageRequest(message=said(metadata=struct(value))),
        pb.SendMessageRequest(message=said(parts=[pb.Part(data=value)])),
        pb.SendMessageRequest(message=said(parts=[pb.Part(data=listed)])),
        pb.SendMessageRequest(message=said(parts=[pb.Part(text="hi", metadata=struct(listed))])),
        pb.SendMessageRequest(message=said(), metadata=struct(value)),
    ]


def old_request(**fields: Any) -> a2a_v0_3_pb2.SendMessageRequest:
    content = [a2a_v0_3_pb2.Part(text="hi")]
    told = {"message_id": "m", "role": a2a_v0_3_pb2.ROLE_USER, "content": content, **fields}
    return a2a_v0_3_pb2.SendMessageRequest(request=a2a_v0_3_pb2.Message(**told))


async def refusal(call: Awaitable[Any]) -> str:
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await call
    assert refused.value.code() == grpc.StatusCode.INVALID_ARGUMENT, refused.value
    return str(refused.value.details())


async def listed(wire: Wire, channel: grpc.aio.Channel) -> list[list[str]]:
    """The ids of ListTasks over each binding."""
    rpc = (await wire.rpc("ListTasks"))["result"]
    rest = (await wire.http.get(f"{wire.url}/rest/tasks", headers=HEADERS)).json()
    stub = a2a_pb2_grpc.A2AServiceStub(channel)
    over_grpc = await stub.ListTasks(pb.ListTasksRequest(), metadata=VERSION)
    assert rpc["totalSize"] == rest["totalSize"] == over_grpc.total_size == len(over_grpc.tasks)
    return [
        [task["id"] for task in rpc["tasks"]],
        [task["id"] for task in rest["tasks"]],
        [task.id for task in over_grpc.tasks],
    ]


@pytest.mark.parametrize("value", NOT_NUMBERS)
async def test_a_number_that_json_cannot_say_is_refused_and_every_list_of_tasks_still_works(
    value: float,
) -> None:
    async with both() as (wire, channel):
        stub, old = a2a_pb2_grpc.A2AServiceStub(channel), a2a_v0_3_pb2_grpc.A2AServiceStub(channel)
        for request in requests_with(number(value)):
            assert "finite" in await refusal(stub.SendMessage(request, metadata=VERSION))
            assert "finite" in await refusal(stub.SendStreamingMessage(request, metadata=VERSION).read())
        assert "finite" in await refusal(old.SendMessage(old_request(metadata=struct(number(value)))))
        part = a2a_v0_3_pb2.Part(data=a2a_v0_3_pb2.DataPart(data=struct(number(value))))
        assert "finite" in await refusal(old.SendMessage(old_request(content=[part])))
        assert "finite" in await refusal(old.SendStreamingMessage(old_request(content=[part])).read())
        assert wire.agent.seen == []
        task = await wire.send()
        assert await listed(wire, channel) == [[task["id"]]] * 3


def nested(levels: int, leaf: Any = 1) -> Any:
    value = leaf
    for level in range(levels):
        value = {"a": value} if level % 2 else [value]
    return value


async def test_values_nest_as_deep_as_storage_reads_back_and_deeper_ones_are_refused() -> None:
    async with both() as (wire, channel):
        deepest: dict[str, Any] = {"a": 1}
        for _ in range(MAX_NESTING - 1):
            deepest = {"a": deepest}
        task = await wire.send(metadata=deepest, parts=[{"text": "hi"}, {"data": deepest}])
        assert state(task) == "completed"
        assert await wire.get(task["id"]) == task
        assert await listed(wire, channel) == [[task["id"]]] * 3
        for fields in (
            {"metadata": {"a": deepest}},
            {"parts": [{"data": [deepest]}]},
            {"parts": [{"text": "hi", "metadata": {"a": deepest}}]},
        ):
            assert (await wire.send(**fields))["error"]["code"] == -32602
        stub = a2a_pb2_grpc.A2AServiceStub(channel)
        too_deep = as_value([deepest])
        assert "nested" in await refusal(
            stub.SendMessage(
                pb.SendMessageRequest(message=said(parts=[pb.Part(data=too_deep)])), metadata=VERSION
            )
        )
        assert len(wire.agent.seen) == 1


async def _post(wire: Wire, path: str, body: bytes, version: str) -> httpx.Response:
    headers = {"Content-Type": "application/json", "A2A-Version": version}
    return await wire.http.post(wire.url + path, content=body, headers=headers)


def _bodies(parts: int) -> dict[str, tuple[str, bytes, str]]:
    """Path, body and version of a message of so many parts, for each binding over HTTP."""
    told = message(parts=[{"text": "a"}] * parts)
    legacy = {"messageId": "m", "role": "user", "parts": [{"kind": "text", "text": "a"}] * parts}
    old_rest = {"messageId": "m", "role": "ROLE_USER", "content": [{"text": "a"}] * parts}
    rpc = {"jsonrpc": "2.0", "id": 1}
    shapes: dict[str, tuple[str, Any, str]] = {
        "rpc": ("/", {**rpc, "method": "SendMessage", "params": {"message": told}}, "1.0"),
        "rest": ("/rest/message:send", {"message": told}, "1.0"),
        "old rpc": ("/", {**rpc, "method": "message/send", "params": {"message": legacy}}, "0.3"),
        "old rest": ("/rest/v1/message:send", {"message": old_rest}, "0.3"),
    }
    return {
        name: (path, json.dumps(body).encode(), version) for name, (path, body, version) in shapes.items()
    }


async def test_a_message_of_a_thousand_parts_is_taken_and_one_of_more_refused() -> None:
    async with both() as (wire, channel):
        for name, (path, body, version) in _bodies(MAX_PARTS).items():
            answer = await _post(wire, path, body, version)
            assert answer.status_code == 200, name
            assert "error" not in answer.json(), name
        taken = len(wire.agent.seen)
        for name, (path, body, version) in _bodies(MAX_PARTS + 1).items():
            answer = await _post(wire, path, body, version)
            error = answer.json()["error"]
            assert f"{MAX_PARTS} parts" in error["message"], name
            assert error["code"] in {-32602, 400}, name
        many = [pb.Part(text="a")] * (MAX_PARTS + 1)
        stub = a2a_pb2_grpc.A2AServiceStub(channel)
        over_grpc = stub.SendMessage(pb.SendMessageRequest(message=said(parts=many)), metadata=VERSION)
        assert f"{MAX_PARTS} parts" in await refusal(over_grpc)
        assert len(wire.agent.seen) == taken


@pytest.mark.parametrize("binding", ["rpc", "rest", "old rpc", "old rest", "grpc", "old grpc"])
@pytest.mark.long
async def test_a_message_of_a_hundred_thousand_parts_is_refused_at_little_cost(binding: str) -> None:
    """In seconds of the processor, which tell nothing of how busy the machine is: 9.6 before there was a limit."""
    parts, old_parts = [pb.Part(text="a")] * 100_000, [a2a_v0_3_pb2.Part(text="a")] * 100_000
    bodies = _bodies(100_000)
    async with both() as (wire, channel):
        new, old = a2a_pb2_grpc.A2AServiceStub(channel), a2a_v0_3_pb2_grpc.A2AServiceStub(channel)
        over_grpc: dict[str, Callable[[], Awaitable[Any]]] = {
            "grpc": lambda: new.SendMessage(
                pb.SendMessageRequest(message=said(parts=parts)), metadata=VERSION
            ),
            "old grpc": lambda: old.SendMessage(old_request(content=old_parts)),
        }
        before = time.process_time()
        if binding in over_grpc:
            told = await refusal(over_grpc[binding]())
            before_it_is_converted = "The request has more" if binding == "old grpc" else "message has more"
            assert before_it_is_converted in told
        else:
            answer = await _post(wire, *bodies[binding])
            assert answer.json()["error"]["code"] in {-32602, 400}
        spent = time.process_time() - before
        assert (await wire.http.get(f"{wire.url}/healthz")).status_code == 200
        assert wire.agent.seen == []
    assert spent < 1.0


async def test_values_are_counted_wherever_they_stand() -> None:
    async with both() as (wire, channel):
        many = [1] * (MAX_VALUES + 1)
        assert (await wire.send(parts=[{"data": many}]))["error"]["code"] == -32602
        assert (await wire.send(metadata={"x": many}))["error"]["code"] == -32602
        stub = a2a_pb2_grpc.A2AServiceStub(channel)
        data = as_value(many)
        for request in requests_with(data):
            assert str(MAX_VALUES) in await refusal(stub.SendMessage(request, metadata=VERSION))
        assert wire.agent.seen == []
        assert state(await wire.send(parts=[{"text": ",[" * MAX_VALUES}])) == "completed"


@pytest.mark.parametrize("bad", [nested(0, math.nan), nested(3, math.inf), nested(MAX_NESTING + 1)])
@pytest.mark.parametrize("place", ["artifact", "artifact's metadata", "status metadata", "status message"])
async def test_an_agent_that_says_what_json_cannot_fails_its_task_and_no_list(bad: Any, place: str) -> None:
    value = struct_pb2.Value()
    value.CopyFrom(as_value(bad))

    async def script(stage: Stage) -> None:
        await stage.task()
        ids: dict[str, Any] = {"task_id": stage.context.task_id, "context_id": stage.context.context_id}
        status = pb.TaskStatus(state=pb.TaskState.TASK_STATE_WORKING)
        artifact = pb.Artifact(artifact_id="a", parts=[pb.Part(text="x")])
        events: dict[str, Callable[[], Any]] = {
            "artifact": lambda: _artifact(ids, pb.Artifact(artifact_id="a", parts=[pb.Part(data=value)])),
            "artifact's metadata": lambda: _artifact(ids, _with_metadata(artifact, value)),
            "status metadata": lambda: pb.TaskStatusUpdateEvent(**ids, status=status, metadata=struct(value)),
            "status message": lambda: pb.TaskStatusUpdateEvent(
                **ids,
                status=pb.TaskStatus(
                    state=pb.TaskState.TASK_STATE_WORKING,
                    message=pb.Message(message_id="s", role=pb.Role.ROLE_AGENT, parts=[pb.Part(data=value)]),
                ),
            ),
        }
        await stage.queue.enqueue_event(events[place]())
        await stage.status(pb.TaskState.TASK_STATE_COMPLETED)

    async with both(script) as (wire, channel):
        task = await wire.send()
        assert state(task) == "failed"
        assert await wire.get(task["id"]) == task
        assert await listed(wire, channel) == [[task["id"]]] * 3


def as_value(plain: Any) -> struct_pb2.Value:
    if isinstance(plain, dict):
        return struct_pb2.Value(
            struct_value=struct_pb2.Struct(fields={name: as_value(each) for name, each in plain.items()})
        )
    if isinstance(plain, list):
        return struct_pb2.Value(list_value=struct_pb2.ListValue(values=[as_value(each) for each in plain]))
    return number(plain)


def _artifact(ids: dict[str, Any], artifact: pb.Artifact) -> pb.TaskArtifactUpdateEvent:
    return pb.TaskArtifactUpdateEvent(**ids, artifact=artifact)


def _with_metadata(artifact: pb.Artifact, value: struct_pb2.Value) -> pb.Artifact:
    artifact.metadata.CopyFrom(struct(value))
    return artifact


STORED = ("nan", "nan-artifact", "broken-ended", "broken-working", "in-order")


_VERSION_1 = """
CREATE TABLE tasks (
    id TEXT PRIMARY KEY, owner TEXT NOT NULL, context_id TEXT NOT NULL, state INTEGER NOT NULL,
    updated INTEGER NOT NULL, body BLOB NOT NULL, version INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE task_chunks (
    task_id TEXT NOT NULL, position INTEGER NOT NULL, sequence INTEGER NOT NULL,
    append INTEGER NOT NULL, artifact BLOB NOT NULL, PRIMARY KEY (task_id, position, sequence)
) WITHOUT ROWID;
"""


def _stored_before(path: Path) -> None:
    """A file of tasks as a version that checked nothing left it: with NaN in the history and in an artifact, two
    that can no longer be read at all, and one in order."""
    anybody = owner_of(ServerCallContext(user=UnauthenticatedUser()))
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.executescript(_VERSION_1)
        for second, name in enumerate(STORED):
            history = said(metadata=struct(number(math.nan))) if name == "nan" else said()
            task = pb.Task(id=name, context_id="c", history=[history])
            working = name == "broken-working"
            state = pb.TaskState.TASK_STATE_WORKING if working else pb.TaskState.TASK_STATE_COMPLETED
            task.status.state = state
            if name == "nan-artifact":
                task.artifacts.add(artifact_id="a")
                artifact = pb.Artifact(artifact_id="a", parts=[pb.Part(data=number(math.nan))])
                chunk = (name, 0, 1, 0, artifact.SerializeToString())
                db.execute("INSERT INTO task_chunks VALUES (?, ?, ?, ?, ?)", chunk)
            task.status.timestamp.FromSeconds(1_700_000_000 + second)
            body = b"\xff\xff" if name.startswith("broken") else task.SerializeToString()
            row = (name, anybody, "c", state, task.status.timestamp.ToNanoseconds(), body, 1)
            db.execute("INSERT INTO tasks VALUES (?, ?, ?, ?, ?, ?, ?)", row)


async def test_tasks_that_cannot_be_shown_break_neither_the_start_nor_a_page(tmp_path: Path) -> None:
    path = tmp_path / "tasks.sqlite"
    _stored_before(path)
    with capture_logs() as logs:
        async with both(log=sqlite_log(path)) as (wire, channel):
            for ids in await listed(wire, channel):
                assert sorted(ids) == sorted(STORED)
            first = (await wire.rpc("ListTasks", {"pageSize": 1}))["result"]
            seen = [first["tasks"][0]["id"]]
            while first["nextPageToken"]:
                first = (await wire.rpc("ListTasks", {"pageSize": 1, "pageToken": first["nextPageToken"]}))[
                    "result"
                ]
                seen += [task["id"] for task in first["tasks"]]
            assert sorted(seen) == sorted(STORED)
            shown = {task["id"]: task for task in (await wire.rpc("ListTasks"))["result"]["tasks"]}
            for name in ("nan", "broken-ended"):
                assert UNREADABLE in shown[name]["status"]["message"]["parts"][0]["text"]
                assert (state(shown[name]), shown[name]["contextId"]) == ("completed", "c")
            assert state(shown["broken-working"]) == "failed"
            assert shown["in-order"]["history"]
            full = (await wire.rpc("ListTasks", {"includeArtifacts": True}))["result"]["tasks"]
            assert (
                UNREADABLE
                in next(task for task in full if task["id"] == "nan-artifact")["status"]["message"]["parts"][
                    0
                ]["text"]
            )
    told = [entry for entry in logs if entry["event"] == "task.unreadable"]
    assert sorted(entry["task_id"] for entry in told) == [
        "broken-ended",
        "broken-working",
        "nan",
        "nan-artifact",
    ]


@pytest.mark.parametrize("operation", ["GetTask", "SubscribeToTask", "CancelTask"])
async def test_a_task_that_cannot_be_shown_is_answered_with_a_sentence(
    tmp_path: Path, operation: str
) -> None:
    path = tmp_path / "tasks.sqlite"
    _stored_before(path)
    async with both(log=sqlite_log(path)) as (wire, channel):
        stub = a2a_pb2_grpc.A2AServiceStub(channel)
        for name in ("nan", "nan-artifact", "broken-ended"):
            answer = await wire.rpc(operation, {"id": name})
            assert answer["error"]["code"] in {-32004, -32002}
            for word in ("protobuf", "Struct", "serialize", "NaN", "wire"):
                assert word not in answer["error"]["message"]
        if operation == "GetTask":
            assert UNREADABLE in answer["error"]["message"]
            rest = await wire.http.get(f"{wire.url}/rest/tasks/nan", headers=HEADERS)
            assert (rest.status_code, UNREADABLE in rest.json()["error"]["message"]) == (400, True)
            with pytest.raises(grpc.aio.AioRpcError) as refused:
                await stub.GetTask(pb.GetTaskRequest(id="nan"), metadata=VERSION)
            assert refused.value.code() == grpc.StatusCode.FAILED_PRECONDITION
