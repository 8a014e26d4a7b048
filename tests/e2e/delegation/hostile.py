"""A hand-made agent that sends whatever a test wants, byte by byte, and notes what it is asked."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from contextvars import ContextVar
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from utils.testing.live_server import loopback_socket, running

TASK = {"id": "t1", "contextId": "c1", "status": {"state": "TASK_STATE_WORKING"}}
CANCELED = TASK | {"status": {"state": "TASK_STATE_CANCELED"}}
COMPLETED = TASK | {"status": {"state": "TASK_STATE_COMPLETED"}}

Body = AsyncIterator[bytes]

_ASKED: ContextVar[Any] = ContextVar("asked", default=1)
"""The id of the JSON-RPC request that is answered."""


class Hostile:
    """The agent's side of a test.

    Attributes:
        sent: Bytes of answers that it could get rid of.
        asked: Methods that it was asked for, in order.
        canceled: Set when its task is canceled.
        cards: How often its card was read.
        version: Of its card.
        interfaces: What its card names; its own address when `None`.
        extensions: What its card declares.
    """

    def __init__(self, body: Callable[[Hostile], Body], *, binding: str, streaming: bool) -> None:
        self._body = body
        self._binding = binding
        self._streaming = streaming
        self._history: list[Any] = []
        self.url = ""
        self.version = 1
        self.interfaces: list[dict[str, Any]] | None = None
        self.extensions: list[dict[str, Any]] = []
        self.sent = 0
        self.asked: list[str] = []
        self.canceled = asyncio.Event()
        self.cards = 0

    def event(self, payload: Mapping[str, Any]) -> bytes:
        """One event of its stream."""
        return b"data: " + self.wrapped(payload) + b"\r\n\r\n"

    def answered_id(self) -> Any:
        """The id of its answer: that of the request."""
        return _ASKED.get()

    def wrapped(self, payload: Mapping[str, Any]) -> bytes:
        """A payload as its binding sends it."""
        rpc = {"jsonrpc": "2.0", "id": self.answered_id(), "result": payload}
        return json.dumps(rpc if self._binding == "JSONRPC" else payload).encode()

    def card(self) -> dict[str, Any]:
        own = {"url": self.url, "protocolBinding": self._binding, "protocolVersion": "1.0"}
        return {
            "name": "flood",
            "description": "Sends much.",
            "version": str(self.version),
            "supportedInterfaces": [own] if self.interfaces is None else self.interfaces,
            "capabilities": {"streaming": self._streaming, "extensions": self.extensions},
            "defaultInputModes": ["text/plain"],
            "defaultOutputModes": ["text/plain"],
            "skills": [{"id": "s", "name": "S", "description": "Floods.", "tags": ["s"]}],
        }

    async def show(self, _request: Request) -> Response:
        self.cards += 1
        return JSONResponse(self.card())

    async def rpc(self, request: Request) -> Response:
        asked = await request.json()
        _ASKED.set(asked["id"])
        self.asked.append(asked["method"])
        if "message" in asked["params"]:
            self._history = [asked["params"]["message"]]
        return self._answer(asked["method"])

    async def rest(self, request: Request) -> Response:
        path = request.url.path
        if "message" in path:
            self._history = [(await request.json())["message"]]
            self.asked.append("SendStreamingMessage" if self._streaming else "SendMessage")
            return self._answer(self.asked[-1])
        self.asked.append("CancelTask" if path.endswith(":cancel") else "ListTasks")
        return self._answer(self.asked[-1])

    def _answer(self, method: str) -> Response:
        match method:
            case "SendStreamingMessage":
                return StreamingResponse(self._counted(), media_type="text/event-stream")
            case "SendMessage":
                return StreamingResponse(self._counted(), media_type="application/json")
            case "CancelTask":
                self.canceled.set()
                return Response(self.wrapped(CANCELED), media_type="application/json")
            case _:
                listed = {"tasks": [TASK | {"history": self._history}] if self._history else []}
                return Response(self.wrapped(listed), media_type="application/json")

    async def _counted(self) -> Body:
        async for piece in self._body(self):
            yield piece
            self.sent += len(piece)
            await asyncio.sleep(0)  # the server learns only then that nobody reads any more


@asynccontextmanager
async def hostile(
    body: Callable[[Hostile], Body],
    *,
    binding: str = "JSONRPC",
    streaming: bool = True,
    made: type[Hostile] = Hostile,
) -> AsyncIterator[Hostile]:
    """Serve such an agent."""
    agent, listener = made(body, binding=binding, streaming=streaming), loopback_socket()
    agent.url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    routes = [
        Route("/.well-known/agent-card.json", agent.show),
        Route("/", agent.rpc, methods=["POST"]),
        Route("/{path:path}", agent.rest, methods=["GET", "POST"]),
    ]
    async with running(Starlette(routes=routes), listener=listener):
        yield agent
