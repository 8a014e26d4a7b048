"""An MCP server that sends more than is taken costs the call, and neither the memory nor the other calls."""

from __future__ import annotations

import tracemalloc
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest

from tests.e2e.mcp.conftest import ATTACHED, STDIO
from tests.e2e.mcp.faulty import ENDLESS, ENDLESS_EVENT, faulty
from tests.e2e.mcp.test_sessions import outcome
from utils.errors import UpstreamRefused
from utils.mcp.config import McpServer
from utils.mcp.connection import Connection, UnansweredError
from utils.net.bounded import MIB

FLOOD: dict[str, Any] = {**STDIO, "args": [*ATTACHED, "-m", "tests.e2e.mcp.flood"]}
SAID = "The MCP server h answered with more than 1,048,576 bytes, which is not read. Ask it for less."


@asynccontextmanager
async def connected(settings: Mapping[str, Any], **options: Any) -> AsyncIterator[Connection]:
    """A connection that takes a mebibyte, once it has listed the tools."""

    async def changed() -> None: ...

    server = McpServer(**{"name": "h", **settings, "timeout_seconds": 120})
    connection = Connection(server, changed, pause=0.01, most=MIB, **options)
    connection.start()
    await connection.tried.wait()
    try:
        yield connection
    finally:
        await connection.stop()


@pytest.mark.parametrize("fault", [ENDLESS, ENDLESS_EVENT])
async def test_an_answer_without_end_over_http_is_a_refusal_and_the_session_goes_on(fault):
    async with faulty(fault) as (server, settings), connected(settings) as connection:
        tracemalloc.start()
        assert await outcome(connection, "read") == SAID
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 16 * MIB
        server.fault = None
        assert await outcome(connection, "read") == "Done."


async def test_a_message_without_end_over_stdio_is_a_refusal_and_the_server_is_started_again():
    async with connected(FLOOD) as connection:
        tracemalloc.start()
        with pytest.raises(UnansweredError) as raised:
            await connection.call("endless", {})
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert isinstance(raised.value.error, UpstreamRefused)
        assert raised.value.error.message == SAID
        assert peak < 16 * MIB
        assert await outcome(connection, "listed") == "1"


async def test_a_server_that_says_without_end_that_its_tools_have_changed_is_asked_for_them_once_in_a_while():
    async with connected(FLOOD, between=3_600) as connection:
        assert [await outcome(connection, "listed") for _ in range(20)] == ["1"] * 20
