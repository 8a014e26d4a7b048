"""An MCP server over HTTP that can be told how to answer a call, in the test's own event loop. It has no sessions."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from utils.testing.live_server import running

TOOLS: Mapping[str, Mapping[str, bool]] = {
    "read": {"readOnlyHint": True},
    "write": {},
    "set": {"readOnlyHint": False, "idempotentHint": True},
}
HANGS, WAITS, BREAKS_OFF, PAGE = "hangs", "waits", "breaks off", "page"
ENDLESS, ENDLESS_EVENT = "endless", "endless event"
CLOSED = "closed"
"""The error that the client of MCP makes itself when a connection is closed, said by the server."""


class Faulty:
    """Carries out each call, and answers as told.

    Attributes:
        fault: A status for what is asked for, or one of the constants above; `None` for an answer of MCP.
        methods: The methods that it concerns.
        only: The tools that it concerns; all where empty.
        done: The names of the tools that were called.
        asked: What was asked for, and is not yet read by the test: the names of methods, and those of tools.
        released: Lets the calls go on that hang, or wait before they are answered.
    """

    def __init__(self, fault: int | str | None, *methods: str, headers: Mapping[str, str]) -> None:
        self.fault, self.methods, self.headers = fault, methods or ("tools/call",), headers
        self.only: set[str] = set()
        self.done: list[str] = []
        self.asked: asyncio.Queue[str] = asyncio.Queue()
        self.released = asyncio.Event()

    async def until(self, asked: str) -> None:
        """Wait until the server is asked for this."""
        while await self.asked.get() != asked:
            pass

    async def answer(self, request: Request) -> Response:
        asked = await request.json()
        if "id" not in asked:
            return Response(status_code=202)
        tool = asked.get("params", {}).get("name", "")
        if asked["method"] == "tools/call":
            self.done.append(tool)
        self.asked.put_nowait(tool or asked["method"])
        number = {"jsonrpc": "2.0", "id": asked["id"]}
        if self.fault is not None and asked["method"] in self.methods and tool in (self.only or {tool}):
            if self.fault == CLOSED:
                return JSONResponse({**number, "error": {"code": -32000, "message": "Connection closed"}})
            if self.fault != WAITS:
                return await self._fault(self.fault)
            await self.released.wait()
        return JSONResponse({**number, "result": self._result(asked)})

    async def _fault(self, fault: int | str) -> Response:
        if fault == HANGS:
            await self.released.wait()
        if fault == BREAKS_OFF:
            return _Half()
        if fault in {ENDLESS, ENDLESS_EVENT}:
            return StreamingResponse(_without_end(), media_type=_TYPES[str(fault)])
        if fault == PAGE:
            return HTMLResponse("<html>Log in</html>")
        return Response(
            "no", status_code=fault if isinstance(fault, int) else 200, headers=dict(self.headers)
        )

    def _result(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        match asked["method"]:
            case "initialize":
                about = {"capabilities": {"tools": {}}, "serverInfo": {"name": "faulty", "version": "1"}}
                return {"protocolVersion": asked["params"]["protocolVersion"], **about}
            case "tools/list":
                shape = {"type": "object", "properties": {}}
                tools = [
                    {"name": name, "inputSchema": shape, "annotations": marks}
                    for name, marks in TOOLS.items()
                ]
                return {"tools": tools}
            case "tools/call":
                return {"content": [{"type": "text", "text": "Done."}]}
        return {}


_TYPES = {ENDLESS: "application/json", ENDLESS_EVENT: "text/event-stream"}


async def _without_end() -> AsyncIterator[bytes]:
    yield b'data: {"x": "'
    while True:
        yield b"x" * 1_000_000
        await asyncio.sleep(0)  # the server sees that nobody reads on


class _Half(Response):
    """A response whose connection is closed before its end."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = [(b"content-type", b"application/json"), (b"content-length", b"1000")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b"{", "more_body": True})


async def _moved(request: Request) -> Response:
    return RedirectResponse("/mcp", status_code=307)


@asynccontextmanager
async def faulty(
    fault: int | str | None, *methods: str, **headers: str
) -> AsyncIterator[tuple[Faulty, dict[str, Any]]]:
    """A server, and its entry in the settings."""
    server = Faulty(fault, *methods, headers={name.replace("_", "-"): said for name, said in headers.items()})
    routes = [Route("/mcp", server.answer, methods=["POST"]), Route("/moved", _moved, methods=["POST"])]
    app = Starlette(routes=routes)
    async with running(app) as url:
        try:
            yield server, {"url": f"{url}/mcp", "timeout_seconds": 1}
        finally:
            server.released.set()
