"""Files of protocol 0.3 over HTTP+JSON and gRPC, as the protocol has them and as Python's SDK sends them."""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from uuid import uuid4

import grpc
import grpc.aio
import pytest
from a2a.compat.v0_3 import a2a_v0_3_pb2 as old
from a2a.compat.v0_3 import a2a_v0_3_pb2_grpc
from a2a.compat.v0_3.grpc_transport import CompatGrpcTransport
from a2a.compat.v0_3.rest_transport import CompatRestTransport
from a2a.types import a2a_pb2 as pb

from tests.e2e.wire.agents import Stage, card
from tests.e2e.wire.wiring import Wire, serving

CONTENTS = [b"hello file", b"abcd", b"%PDF-1.7\n\xff\x00\xfe", bytes(range(256)), b"YWJjZA=="]
"""Text, text that looks like base64, what is no text, and base64."""
OF_JS = {"A2A-Version": "0.3", "User-Agent": "node"}
OF_PYTHON = {"A2A-Version": "0.3", "User-Agent": "python-httpx/0.28.1"}


async def gives_back(stage: Stage) -> None:
    """An agent that answers with the parts of the message, as the message of a status and as an artifact."""
    await stage.task()
    assert stage.context.message is not None
    parts = stage.context.message.parts
    for event in (
        pb.TaskArtifactUpdateEvent(artifact=pb.Artifact(artifact_id="a", parts=parts), last_chunk=True),
        pb.TaskStatusUpdateEvent(
            status=pb.TaskStatus(
                state=pb.TaskState.TASK_STATE_COMPLETED,
                message=pb.Message(message_id="end", role=pb.Role.ROLE_AGENT, parts=parts),
            )
        ),
    ):
        event.task_id, event.context_id = stage.context.task_id or "", stage.context.context_id or ""
        await stage.queue.enqueue_event(event)


@asynccontextmanager
async def agent(**settings: str) -> AsyncIterator[Wire]:
    shown = card()
    shown.default_input_modes[:] = ["text/plain"]
    async with serving(gives_back, shown=shown, takes_files=True, settings=settings) as wire:
        yield wire


def request(content: str, kind: str = "text/plain") -> dict[str, Any]:
    parts = [{"text": "what is in it?"}, {"file": {"fileWithBytes": content, "mimeType": kind, "name": "f"}}]
    return {"message": {"messageId": str(uuid4()), "role": "ROLE_USER", "content": parts}}


def seen(wire: Wire) -> bytes:
    """The file as the agent got it."""
    message = wire.agent.seen[-1].message
    assert message is not None
    return message.parts[1].raw


def of_task(task: dict[str, Any]) -> set[str]:
    """The file wherever it stands in a task."""
    places = [*task["artifacts"], task["status"]["message"], *task["history"]]
    parts = [part for place in places for part in place.get("parts") or place["content"]]
    return {part["file"]["fileWithBytes"] for part in parts if "file" in part}


def encoded(content: bytes) -> str:
    return base64.b64encode(content).decode()


def twice(content: bytes) -> str:
    return encoded(encoded(content).encode())


@pytest.mark.parametrize("content", CONTENTS)
@pytest.mark.parametrize(
    ("client", "written"), [(OF_JS, encoded), (OF_PYTHON, twice)], ids=["protocol", "python"]
)
async def test_a_file_comes_and_goes_over_http_as_its_client_writes_it(content, client, written):
    async with agent() as wire:
        body = request(written(content))
        sent = await wire.http.post(f"{wire.url}/rest/v1/message:send", json=body, headers=client)
        assert sent.status_code == 200, sent.text
        assert seen(wire) == content
        task = sent.json()["task"]
        assert of_task(task) == {written(content)}
        got = await wire.http.get(f"{wire.url}/rest/v1/tasks/{task['id']}", headers=client)
        assert of_task(got.json()) == {written(content)}
        body["message"]["messageId"] = "streamed"
        stream = await wire.http.post(f"{wire.url}/rest/v1/message:stream", json=body, headers=client)
        events = [json.loads(line[5:]) for line in stream.text.splitlines() if line.startswith("data:")]
        assert of_task(events[0]["task"] | {"artifacts": [], "status": {"message": {"content": []}}}) == {
            written(content)
        }
        assert events[1]["artifactUpdate"]["artifact"]["parts"][1]["file"]["fileWithBytes"] == written(
            content
        )
        assert events[2]["statusUpdate"]["status"]["message"]["content"][1]["file"][
            "fileWithBytes"
        ] == written(content)


async def test_a_python_client_that_sends_a_file_as_the_protocol_has_it_is_answered_so():
    async with agent() as wire:
        body = request(encoded(b"hello file"))
        sent = await wire.http.post(f"{wire.url}/rest/v1/message:send", json=body, headers=OF_PYTHON)
        assert seen(wire) == b"hello file"
        assert of_task(sent.json()["task"]) == {encoded(b"hello file")}


async def test_one_file_that_is_no_base64_tells_how_the_others_of_its_message_are_written():
    async with agent() as wire:
        body = request(encoded(b"abcd"))
        body["message"]["content"].append(
            {"file": {"fileWithBytes": encoded(b"no base64"), "mimeType": "text/plain"}}
        )
        await wire.http.post(f"{wire.url}/rest/v1/message:send", json=body, headers=OF_PYTHON)
        assert seen(wire) == b"abcd"


@pytest.mark.parametrize("client", [OF_JS, OF_PYTHON], ids=["protocol", "python"])
@pytest.mark.parametrize("path", ["message:send", "message:stream"])
async def test_a_file_of_a_type_that_is_not_taken_is_refused_for_its_type(client, path):
    async with agent() as wire:
        body = request(encoded(b"PK\x03\x04"), "application/zip")
        refused = await wire.http.post(f"{wire.url}/rest/v1/{path}", json=body, headers=client)
        assert refused.status_code in {400, 415}
        assert refused.json()["error"]["details"][0]["reason"] == "CONTENT_TYPE_NOT_SUPPORTED"


async def test_what_json_does_not_read_as_bytes_is_refused():
    async with agent() as wire:
        refused = await wire.http.post(f"{wire.url}/rest/v1/message:send", json=request("a?b"), headers=OF_JS)
        assert refused.status_code == 400
        assert wire.agent.seen == []


@pytest.mark.parametrize("content", [b"hello file", b"%PDF-1.7\n\xff\x00\xfe", bytes(range(256))])
async def test_a_file_comes_and_goes_over_grpc_as_the_protocol_has_it(content):
    file = old.FilePart(file_with_bytes=content, mime_type="text/plain")
    message = old.Message(
        message_id="m", role=old.ROLE_USER, content=[old.Part(text="hi"), old.Part(file=file)]
    )
    async with agent(GRPC_PORT="0") as wire, channel_to(wire) as channel:
        stub = a2a_v0_3_pb2_grpc.A2AServiceStub(channel)
        sent = await stub.SendMessage(old.SendMessageRequest(request=message))
        assert seen(wire) == content
        assert sent.task.artifacts[0].parts[1].file.file_with_bytes == content
        message.message_id = "streamed"
        events = [event async for event in stub.SendStreamingMessage(old.SendMessageRequest(request=message))]
        assert events[0].task.history[0].content[1].file.file_with_bytes == content
        assert events[1].artifact_update.artifact.parts[1].file.file_with_bytes == content
        assert events[2].status_update.status.update.content[1].file.file_with_bytes == content


async def test_a_file_of_a_type_that_is_not_taken_is_refused_for_its_type_over_grpc():
    file = old.FilePart(file_with_bytes=b"PK\x03\x04", mime_type="application/zip")
    message = old.Message(message_id="m", role=old.ROLE_USER, content=[old.Part(file=file)])
    async with agent(GRPC_PORT="0") as wire, channel_to(wire) as channel:
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await a2a_v0_3_pb2_grpc.A2AServiceStub(channel).SendMessage(
                old.SendMessageRequest(request=message)
            )
        assert refused.value.code() == grpc.StatusCode.INVALID_ARGUMENT
        assert "application/zip" in str(refused.value.details())


@pytest.mark.parametrize("content", CONTENTS)
async def test_pythons_sdk_of_0_3_sends_and_reads_files(content):
    parts = [pb.Part(text="hi"), pb.Part(raw=content, media_type="text/plain", filename="f")]
    async with agent(GRPC_PORT="0") as wire, channel_to(wire) as channel:
        for at, client in enumerate(
            (CompatRestTransport(wire.http, None, f"{wire.url}/rest"), CompatGrpcTransport(channel, None))
        ):
            asked = pb.Message(message_id=f"m{at}", role=pb.Role.ROLE_USER, parts=parts)
            sent = await client.send_message(pb.SendMessageRequest(message=asked))
            assert seen(wire) == content
            assert sent.task.artifacts[0].parts[1].raw == content
            got = await client.get_task(pb.GetTaskRequest(id=sent.task.id))
            assert got.artifacts[0].parts[1].raw == content


def channel_to(wire: Wire) -> grpc.aio.Channel:
    return grpc.aio.insecure_channel(f"127.0.0.1:{wire.app.state.grpc_port}")
