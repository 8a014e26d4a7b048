"""One answer of an MCP server ends neither its session nor the other calls of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest
from mcp import types

from tests.e2e.mcp.faulty import BREAKS_OFF, CLOSED, WAITS, Faulty, faulty
from utils.errors import PlatformError
from utils.mcp.config import McpServer
from utils.mcp.connection import Connection, UnansweredError


@asynccontextmanager
async def connected(settings: Mapping[str, Any]) -> AsyncIterator[Connection]:
    """A connection whose calls may take longer than the test."""

    async def changed() -> None: ...

    server = McpServer(**{"name": "h", **settings, "timeout_seconds": 120})
    connection = Connection(server, changed, pause=0.01)
    connection.start()
    async with asyncio.timeout(30):
        await connection.tried.wait()
        try:
            yield connection
        finally:
            await connection.stop()


async def outcome(connection: Connection, tool: str) -> str:
    """What a call brings, as its caller is told."""
    try:
        result = await connection.call(tool, {})
    except UnansweredError as error:
        return error.error.message
    except PlatformError as error:
        return error.message
    return str(result.content[0].text)  # type: ignore[union-attr]  # the server answers with a text


async def running(connection: Connection, server: Faulty, tool: str = "read") -> asyncio.Task[str]:
    """A call that the server got, and answers when it is released."""
    server.fault, server.methods, server.only = WAITS, ("tools/call",), set()
    call = asyncio.create_task(outcome(connection, tool))
    await server.until(tool)
    return call


LOGIN = {"location": "http://127.0.0.2:9/login", "content_type": "text/html"}
JSON = {"content_type": "application/json"}
EVENTS = {"content_type": "text/event-stream"}
ANSWERS: dict[str, tuple[int | str, dict[str, str], str]] = {
    "a redirect elsewhere": (302, LOGIN, "refers to another address (status 302)"),
    "a redirect in a circle": (307, {"location": "/mcp"}, "refers to another address (status 307)"),
    "a redirect to nowhere": (302, {"location": "http://host:port/"}, "was lost during the request"),
    "a wrong encoding": (
        200,
        {**JSON, "content_encoding": "gzip"},
        "answered with application/json in a wrong encoding, which is not MCP",
    ),
    "events in a wrong encoding": (
        200,
        {**EVENTS, "content_encoding": "gzip"},
        "answered with text/event-stream in a wrong encoding, which is not MCP",
    ),
    "no event": (200, EVENTS, "was lost during the request"),
    "no message": (200, JSON, "answered with application/json, which is not MCP"),
    "nothing": (202, {}, "took the request without an answer (status 202)"),
    "half an answer": (BREAKS_OFF, {}, "was lost during the request"),
}


@pytest.mark.parametrize("answer", ANSWERS)
async def test_an_answer_that_is_not_mcp_is_told_at_once_and_takes_nothing_from_another_call(answer):
    fault, headers, said = ANSWERS[answer]
    async with faulty(None, **headers) as (server, settings), connected(settings) as connection:
        other = await running(connection, server)
        server.fault, server.only = fault, {"write"}
        for _ in range(2):
            assert (await outcome(connection, "write")).startswith(f"The MCP server h {said}.")
            await server.until("ping")
        server.released.set()
        assert await other == "Done."


async def test_a_server_that_has_moved_within_its_origin_is_followed():
    async with faulty(None) as (_, settings):
        moved = {"url": settings["url"].replace("/mcp", "/moved")}
        async with connected(moved) as connection:
            assert await outcome(connection, "read") == "Done."


@pytest.mark.parametrize("status", [403, 404, 409, 429, 500, 503])
async def test_a_server_that_refuses_everything_for_a_while_takes_nothing_from_a_call_that_runs(status):
    async with faulty(None) as (server, settings), connected(settings) as connection:
        other = await running(connection, server)
        server.fault, server.methods = status, ("tools/call", "ping")
        for _ in range(2):
            assert f"status {status}" in await outcome(connection, "write")
            await server.until("ping")
        server.released.set()
        assert await other == "Done."
        server.fault = None
        assert await outcome(connection, "write") == "Done."


@pytest.mark.parametrize("status", [400, 401])
async def test_a_server_that_does_not_know_the_session_any_more_gets_a_new_one(status):
    async with faulty(None) as (server, settings), connected(settings) as connection:
        server.fault, server.methods = status, ("tools/call", "ping")
        assert f"status {status}" in await outcome(connection, "write")
        await server.until("initialize")
        await server.until("initialize")
        server.fault = None
        assert await outcome(connection, "write") == "Done."


async def test_changed_tools_that_a_server_refuses_to_list_are_asked_for_again():
    changed = types.ServerNotification(types.ToolListChangedNotification())
    async with faulty(None) as (server, settings), connected(settings) as connection:
        await server.until("tools/list")
        server.fault, server.methods = 429, ("tools/call", "tools/list")
        await connection._on_message(changed)
        await server.until("tools/list")
        await outcome(connection, "write")
        await server.until("tools/list")
        assert connection.trouble == ""


async def test_a_session_that_is_found_lost_late_takes_nothing_from_the_one_that_followed_it(monkeypatch):
    later: list[asyncio.Task[str]] = []

    async def answers(_: object) -> bool:
        """Whether the session still answers: it does not, and when this is known there is a new one."""
        server.fault, server.methods = 401, ("tools/call", "ping")
        await outcome(connection, "set")
        await server.until("initialize")
        later.append(await running(connection, server))
        return False

    monkeypatch.setattr("utils.mcp.connection._answers", answers)
    async with faulty(None) as (server, settings), connected(settings) as connection:
        await server.until("initialize")
        server.fault = CLOSED
        assert "closed the connection during the call" in await outcome(connection, "write")
        server.fault = None
        assert await outcome(connection, "set") == "Done."
        server.released.set()
        assert await later[0] == "Done."
