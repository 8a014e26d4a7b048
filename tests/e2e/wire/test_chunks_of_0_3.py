"""An answer in chunks ends whole for clients of protocol 0.3 over HTTP+JSON and gRPC, some of which lose `append`."""

from __future__ import annotations

import json
from typing import Any

import grpc.aio
from a2a.compat.v0_3 import a2a_v0_3_pb2 as old
from a2a.compat.v0_3 import a2a_v0_3_pb2_grpc
from a2a.types import a2a_pb2 as pb

from tests.e2e.wire.agents import Script, Stage
from tests.e2e.wire.wiring import Wire, message, serving
from utils.a2a_common.server.legacy.chunks import WHOLE


def says(*texts: str) -> Script:
    """An agent that says texts as chunks of one artifact, and marks an empty chunk as the last one."""

    async def script(stage: Stage) -> None:
        await stage.task()
        for number, text in enumerate([*texts, ""]):
            await stage.chunk(text, append=number > 0, last=number == len(texts))
        await stage.status(pb.TaskState.TASK_STATE_COMPLETED)

    return script


async def chunks(wire: Wire) -> list[tuple[str, bool, bool]]:
    """What a stream over HTTP+JSON tells of an artifact: text, whether it is appended, whether it is the last."""
    body = {"message": {"messageId": "m", "role": "ROLE_USER", "content": [{"text": "hi"}]}}
    answer = await wire.http.post(f"{wire.url}/rest/v1/message:stream", json=body)
    events = [json.loads(line[5:]) for line in answer.text.splitlines() if line.startswith("data:")]
    return [_chunk(event["artifactUpdate"]) for event in events if "artifactUpdate" in event]


def _chunk(update: dict[str, Any]) -> tuple[str, bool, bool]:
    text = "".join(part.get("text", "") for part in update["artifact"]["parts"])
    return text, update.get("append", False), update.get("lastChunk", False)


async def test_the_last_event_of_an_artifact_holds_all_of_it():
    async with serving(says("one ", "two ", "three")) as wire:
        told = await chunks(wire)
    assert told[:3] == [("one ", False, False), ("two ", True, False), ("three", True, False)]
    assert told[3:] == [("one two three", False, True)]


async def test_it_does_so_over_grpc():
    request = old.Message(message_id="m", role=old.ROLE_USER, content=[old.Part(text="hi")])
    async with (
        serving(says("one ", "two"), settings={"GRPC_PORT": "0"}) as wire,
        grpc.aio.insecure_channel(f"127.0.0.1:{wire.app.state.grpc_port}") as channel,
    ):
        stub = a2a_v0_3_pb2_grpc.A2AServiceStub(channel)
        stream = stub.SendStreamingMessage(old.SendMessageRequest(request=request))
        updates = [event.artifact_update async for event in stream if event.HasField("artifact_update")]
    assert [each.artifact.parts[0].text for each in updates] == ["one ", "two", "one two"]
    assert [(each.append, each.last_chunk) for each in updates] == [
        (False, False),
        (True, False),
        (False, True),
    ]


async def test_what_is_too_long_for_one_event_ends_with_its_last_chunk():
    async with serving(says("a" * WHOLE, "b")) as wire:
        assert (await chunks(wire))[-1] == ("", True, True)


async def test_the_task_is_stored_as_it_was_told():
    async with serving(says("one ", "two")) as wire:
        await chunks(wire)
        listed = await wire.rpc("ListTasks", {"includeArtifacts": True})
        parts = listed["result"]["tasks"][0]["artifacts"][0]["parts"]
        assert [part["text"] for part in parts] == ["one two"]


async def test_other_clients_get_the_chunks_as_they_are():
    async with (
        serving(says("one ", "two")) as wire,
        wire.events("SendStreamingMessage", {"message": message()}) as events,
    ):
        told = [_chunk(event["artifactUpdate"]) async for event in events if "artifactUpdate" in event]
    assert told == [("one ", False, False), ("two", True, False), ("", True, True)]
