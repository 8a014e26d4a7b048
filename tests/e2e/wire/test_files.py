"""Files and other parts that an agent does not read are refused with a sentence, and never left out in silence."""

from __future__ import annotations

import base64
from typing import Any

import grpc
import grpc.aio
import pytest
from a2a.compat.v0_3 import a2a_v0_3_pb2, a2a_v0_3_pb2_grpc
from a2a.types import a2a_pb2 as pb
from a2a.types import a2a_pb2_grpc
from google.protobuf import struct_pb2

from tests.e2e.wire.agents import echo
from tests.e2e.wire.wiring import HEADERS, message, serving, state
from utils.a2a_common.server.card import build_card

RAW = base64.b64encode(b"a note").decode()
VERSION = (("a2a-version", "1.0"),)
NOT_TAKEN: dict[str, dict[str, Any]] = {
    "a file": {"raw": RAW},
    "a text file": {"raw": RAW, "mediaType": "text/plain", "filename": "note.txt"},
    "an address": {"url": "https://files.example/note.txt"},
    "an address of a text": {"url": "https://files.example/note.txt", "mediaType": "text/plain"},
    "a list": {"data": [1, 2]},
    "a list as JSON": {"data": [{"a": 1}], "mediaType": "application/json"},
    "a word": {"data": "yes"},
    "a number": {"data": 7},
    "nothing": {"data": None},
}
NOT_TAKEN_BEFORE: dict[str, dict[str, Any]] = {
    "a file": {"kind": "file", "file": {"bytes": RAW, "name": "note.txt", "mimeType": "text/plain"}},
    "an address": {"kind": "file", "file": {"uri": "https://files.example/note.txt"}},
}


@pytest.mark.parametrize("with_text", [True, False])
@pytest.mark.parametrize("part", NOT_TAKEN.values(), ids=NOT_TAKEN.keys())
async def test_a_part_that_the_agent_does_not_read_is_refused_and_named(
    part: dict[str, Any], with_text: bool
) -> None:
    parts = [{"text": "Read this"}, part] if with_text else [part]
    async with serving(echo) as wire:
        rpc = (await wire.send(parts=parts))["error"]
        assert rpc["code"] == -32005
        assert f"message.parts[{len(parts) - 1}]" in rpc["message"]
        assert "text" in rpc["message"]
        body = {"message": message(parts=parts)}
        for path in ("message:send", "message:stream"):
            rest = await wire.http.post(f"{wire.url}/rest/{path}", json=body, headers=HEADERS)
            assert rest.status_code in {400, 415}
            assert rest.json()["error"]["details"][0]["reason"] == "CONTENT_TYPE_NOT_SUPPORTED"
        streamed = await wire.rpc("SendStreamingMessage", {"message": message(parts=parts)})
        assert streamed["error"]["code"] == -32005
        assert wire.agent.seen == []
        assert (await wire.rpc("ListTasks"))["result"]["totalSize"] == 0


@pytest.mark.parametrize("part", NOT_TAKEN_BEFORE.values(), ids=NOT_TAKEN_BEFORE.keys())
async def test_a_file_of_protocol_0_3_is_refused_too(part: dict[str, Any]) -> None:
    told = {"messageId": "m", "role": "user", "parts": [{"kind": "text", "text": "Read this"}, part]}
    async with serving(echo) as wire:
        body = {"jsonrpc": "2.0", "id": 1, "method": "message/send", "params": {"message": told}}
        answer = await wire.http.post(f"{wire.url}/", json=body, headers={"A2A-Version": "0.3"})
        assert answer.json()["error"]["code"] == -32005
        content = [{"text": "Read this"}, {"file": {"fileWithUri": "https://files.example/x"}}]
        old = {"message": {"messageId": "m", "role": "ROLE_USER", "content": content}}
        rest = await wire.http.post(f"{wire.url}/rest/v1/message:send", json=old)
        assert rest.status_code in {400, 415}
        assert wire.agent.seen == []


async def test_a_file_is_refused_over_grpc() -> None:
    async with (
        serving(echo, settings={"GRPC_PORT": "0"}) as wire,
        grpc.aio.insecure_channel(f"127.0.0.1:{wire.app.state.grpc_port}") as channel,
    ):
        new, old = a2a_pb2_grpc.A2AServiceStub(channel), a2a_v0_3_pb2_grpc.A2AServiceStub(channel)
        for part in (
            pb.Part(raw=b"a note", media_type="text/plain"),
            pb.Part(url="https://files.example/x"),
            pb.Part(data=struct_pb2.Value(string_value="yes")),
        ):
            told = pb.Message(message_id="m", role=pb.Role.ROLE_USER, parts=[pb.Part(text="hi"), part])
            with pytest.raises(grpc.aio.AioRpcError) as refused:
                await new.SendMessage(pb.SendMessageRequest(message=told), metadata=VERSION)
            assert refused.value.code() == grpc.StatusCode.INVALID_ARGUMENT
            assert "message.parts[1]" in str(refused.value.details())
        for content in (RAW.encode(), b"a note", b"\xff"):
            file = a2a_v0_3_pb2.Part(
                file=a2a_v0_3_pb2.FilePart(file_with_bytes=content, mime_type="text/plain")
            )
            before = a2a_v0_3_pb2.Message(message_id="m", role=a2a_v0_3_pb2.ROLE_USER, content=[file])
            with pytest.raises(grpc.aio.AioRpcError) as refused:
                await old.SendMessage(a2a_v0_3_pb2.SendMessageRequest(request=before))
            assert refused.value.code() == grpc.StatusCode.INVALID_ARGUMENT
            assert "binascii" not in str(refused.value.details())
        assert wire.agent.seen == []


async def test_text_and_objects_are_taken_and_files_where_the_agent_reads_them() -> None:
    parts = [{"text": "hi"}, {"data": {"a": [1]}}, {"data": {}, "mediaType": "application/json"}]
    async with serving(echo) as wire:
        assert state(await wire.send(parts=parts)) == "completed"
    async with serving(echo, takes_files=True) as wire:
        for part in NOT_TAKEN.values():
            assert state(await wire.send(parts=[{"text": "hi"}, part])) == "completed"


async def test_every_input_mode_of_our_card_is_taken() -> None:
    ours = build_card(name="a", description="A.", skills=(), version="1", url="http://127.0.0.1:1", model="m")
    async with serving(echo, shown=ours) as wire:
        for mode in ours.default_input_modes:
            part = {"data": {"a": 1}} if mode.endswith("json") else {"text": "hi"}
            assert state(await wire.send(parts=[{"text": "hi"}, {**part, "mediaType": mode}])) == "completed"
