"""The client of the JavaScript SDK reads an agent and is understood by it, over each binding."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from tests.e2e.delegation.teams import Asker
from tests.e2e.interop.program import output
from tests.e2e.wire.ways import Served, served
from utils.a2a_common.protocol.request import AgentRequest
from utils.events import AgentEvent, ArtifactAdded, Completed, FileBytes, TextDelta
from utils.testing.live_server import running
from utils.testing.scripted_model import ScriptedModel, call, calls

pytestmark = pytest.mark.servers

EVERY_BYTE = bytes(range(256))
WORDS = [f"word {number}\n" for number in range(2_000)]


class Pupil(Asker):
    """Does what its message says, and asks where it is told to."""

    name = "pupil"
    description = "Says what it is told to say."

    async def stream(self, request: AgentRequest) -> AsyncGenerator[AgentEvent, None]:
        order, _, words = request.text.partition(" ")
        match order:
            case "say":
                yield TextDelta(words)
            case "long":
                for word in WORDS:
                    yield TextDelta(word)
            case "wait":
                yield TextDelta("I wait.")
                await asyncio.Event().wait()
            case "file":
                yield ArtifactAdded([FileBytes(EVERY_BYTE, "all.bin", "application/octet-stream")])
                yield TextDelta("Here.")
            case "size":
                sizes = [len(file.content) for file in request.files if isinstance(file, FileBytes)]
                yield TextDelta(" ".join(map(str, sizes)))
            case _:
                async for event in super().stream(request):
                    yield event
                return
        yield Completed()


class Hook:
    """A webhook that knows the states it was told."""

    def __init__(self) -> None:
        self.states: list[str] = []
        self.tokens: set[str] = set()

    async def receive(self, request: Request) -> Response:
        told = await request.json()
        self.tokens.add(request.headers["x-a2a-notification-token"])
        self.states += [each["status"]["state"] for each in told.values() if "status" in each]
        return Response(status_code=204)

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[str]:
        async with running(Starlette(routes=[Route("/hook", self.receive, methods=["POST"])])) as url:
            yield f"{url}/hook"


def address(place: Served, binding: str) -> str:
    return {
        "JSONRPC": f"{place.url}/",
        "HTTP+JSON": f"{place.url}/rest",
        "GRPC": f"127.0.0.1:{place.grpc_port}",
    }[binding]


def check_errors(found: Mapping[str, Any]) -> None:
    wanted = {
        "unknown": "TaskNotFoundError",
        "over": "TaskNotCancelableError",
        "archive": "ContentTypeNotSupportedError",
    }
    for name, kind in wanted.items():
        assert found[name]["kind"].endswith(kind), found[name]  # each binding has a class of its own
    assert found["nothing"]["refused"]


@pytest.mark.parametrize("binding", ["JSONRPC", "HTTP+JSON", "GRPC"])
async def test_a_client_of_the_javascript_sdk_does_what_its_binding_allows(
    binding: str, tmp_path: Path
) -> None:
    model = ScriptedModel.of(calls(call("where")), "Paris it is.")
    hook = Hook()
    async with (
        hook.listening() as webhook,
        served(Pupil, model, tmp_path, PUSH_ALLOW_PRIVATE="true") as place,
    ):
        found = json.loads(await output("client.mjs", place.url, binding, address(place, binding), webhook))
    assert [name for name, seen in found.items() if "failed" in seen] == [], found
    assert found["card"]["name"] == "pupil"
    assert {"JSONRPC", "HTTP+JSON"} <= set(found["card"]["announced"])
    assert found["blocking"] == {"state": "completed", "text": "hello"}
    streamed = found["streamed"]
    assert (streamed["first"], streamed["last"], streamed["same"]) == ("task", "completed", True)
    assert streamed["text"] == "".join(WORDS)
    assert found["conversation"] == {"same": True, "listed": True, "total": 2, "more": ""}
    assert found["canceled"] == {"state": "canceled", "first": "task", "last": "canceled"}
    asked = found["question"]
    assert (asked["state"], asked["first"], asked["last"]) == ("input_required", "task", "completed")
    assert asked["same"]
    assert asked["question"] == "Which city?"
    assert asked["text"].endswith("Paris it is.")
    assert base64.b64decode(found["files"]["base64"]) == EVERY_BYTE
    assert (found["files"]["name"], found["files"]["type"]) == ("all.bin", "application/octet-stream")
    assert found["attached"] == {"state": "completed", "text": str(len("first line\r\nsecond line"))}
    assert found["pushed"]["url"] == webhook
    assert found["pushed"]["gone"]["refused"]
    assert hook.tokens == {"a token"}
    check_errors(found)
