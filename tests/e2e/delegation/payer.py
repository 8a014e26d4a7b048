"""An agent that makes a change at each message that it gets, also at one that comes again, and whose answers get lost."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from utils.testing.live_server import loopback_socket, running

Loss = Callable[[], Response]
Json = dict[str, Any]
Look = Callable[[Json, Sequence[Json]], Response]


async def _cut() -> AsyncIterator[bytes]:
    raise ConnectionError("the line broke")
    yield b""


def page(status: int) -> Loss:
    """The page of a gateway."""
    return lambda: Response("<html>a gateway</html>", status, media_type="text/html")


def cut() -> Response:
    """A stream that breaks off before its first event."""
    return StreamingResponse(_cut(), media_type="text/event-stream")


def empty() -> Response:
    """A stream that ends without an event."""
    return Response(": hello\n\n", media_type="text/event-stream")


def refusing(asked: Json, _paid: Sequence[Json]) -> Response:
    """Knows no such request."""
    error = {"code": -32601, "message": "Method not found"}
    return JSONResponse({"jsonrpc": "2.0", "id": asked["id"], "error": error})


def listing_nothing(asked: Json, _paid: Sequence[Json]) -> Response:
    """Lists no task, as one that answers with a message alone."""
    return _result(asked, {"tasks": []})


def listing_no_messages(asked: Json, paid: Sequence[Json]) -> Response:
    """Lists its tasks without what was said in them."""
    return _result(asked, {"tasks": [_task(number) for number, _ in enumerate(paid)]})


def listing_others(asked: Json, _paid: Sequence[Json]) -> Response:
    """Lists a task with its messages, which is of another message."""
    other = {"messageId": "another", "role": "ROLE_USER", "parts": [{"text": "Hello."}]}
    return _result(asked, {"tasks": [_task(9) | {"history": [other]}]})


def listing_all(asked: Json, paid: Sequence[Json]) -> Response:
    """Lists its tasks with their messages."""
    return _result(
        asked, {"tasks": [_task(number) | {"history": [each]} for number, each in enumerate(paid)]}
    )


class Payer:
    """The agent's side of a test.

    Attributes:
        lost: What comes in place of its first answers.
        looks: What it answers to the first other requests, before `look`.
        look: What it answers to a request for its tasks.
        unpaid: Whether the message does not reach it where an answer is lost.
        slow: Waited for before each answer.
        paid: The messages that it made a change for.
        asked: The methods that were called.
    """

    def __init__(
        self,
        *lost: Loss,
        look: Look = refusing,
        looks: Sequence[Loss] = (),
        unpaid: bool = False,
        streaming: bool = True,
        extensions: Sequence[str] = (),
        version: str = "1.0",
        slow: Callable[[], Awaitable[object]] | None = None,
    ) -> None:
        self.lost, self.look, self.looks, self.unpaid = [*lost], look, [*looks], unpaid
        self._streaming, self._extensions, self._version = streaming, extensions, version
        self.slow = slow
        self.url = ""
        self.paid: list[Json] = []
        self.asked: list[str] = []
        self.got = asyncio.Event()

    async def card(self, _request: Request) -> Response:
        own = {"url": f"{self.url}/", "protocolBinding": "JSONRPC", "protocolVersion": self._version}
        extensions = [{"uri": uri} for uri in self._extensions]
        return JSONResponse(
            {
                "name": "pay",
                "description": "Pays bills.",
                "version": "1",
                "supportedInterfaces": [own],
                "capabilities": {"streaming": self._streaming, "extensions": extensions},
                "defaultInputModes": ["text/plain"],
                "defaultOutputModes": ["text/plain"],
                "skills": [{"id": "s", "name": "S", "description": "Pays.", "tags": ["s"]}],
            }
        )

    async def rpc(self, request: Request) -> Response:
        asked = await request.json()
        self.asked.append(asked["method"])
        if "message" not in asked.get("params", {}):
            return self.looks.pop(0)() if self.looks else self.look(asked, self.paid)
        lost = self.lost.pop(0) if self.lost else None
        if lost is None or not self.unpaid:
            self.paid.append(asked["params"]["message"])
        self.got.set()
        if self.slow is not None:
            await self.slow()
        return lost() if lost else self._answer(asked)

    def _answer(self, asked: Json) -> Response:
        done = _task(len(self.paid) - 1)
        if not self._streaming:
            return _result(asked, {"task": done})
        event = {"jsonrpc": "2.0", "id": asked["id"], "result": {"task": done}}
        return Response(f"data: {json.dumps(event)}\n\n", media_type="text/event-stream")


@asynccontextmanager
async def paying(agent: Payer) -> AsyncIterator[str]:
    """Serve it; the block gets its address."""
    listener = loopback_socket()
    agent.url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    routes = [
        Route("/.well-known/agent-card.json", agent.card),
        Route("/", agent.rpc, methods=["POST"]),
    ]
    async with running(Starlette(routes=routes), listener=listener):
        yield agent.url


def _task(number: int) -> Json:
    artifact = {"artifactId": "a", "name": "response", "parts": [{"text": f"Paid {number}."}]}
    done = {"state": "TASK_STATE_COMPLETED"}
    return {"id": f"t{number}", "contextId": "c", "status": done, "artifacts": [artifact]}


def _result(asked: Json, result: Json) -> Response:
    return JSONResponse({"jsonrpc": "2.0", "id": asked["id"], "result": result})
