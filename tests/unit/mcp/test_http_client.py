"""A server of MCP that closes its event streams at once does not keep its agent busy with opening them."""

from __future__ import annotations

import asyncio

import httpx
import pytest

from tests.support.passing_time import pass_seconds
from utils.mcp.http_client import LEAST_SECONDS, STREAM_SECONDS, STREAMS_AT_ONCE, McpHttpClient

LIMIT = 2 * LEAST_SECONDS
CLOSED_AT_ONCE = b"retry: 0\nid: 1\ndata:\n\n"


def closing(request: httpx.Request) -> httpx.Response:
    return httpx.Response(200, headers={"content-type": "text/event-stream"}, content=CLOSED_AT_ONCE)


async def seconds_for(streams: int) -> float:
    """How long it takes until so many event streams were opened, one after the other."""
    loop = asyncio.get_running_loop()
    async with McpHttpClient(transport=httpx.MockTransport(closing)) as client:
        began = loop.time()
        for _ in range(streams):
            await client.get("http://server/mcp")
        return loop.time() - began


async def test_event_streams_that_are_opened_again_and_again_wait_for_each_other():
    assert await seconds_for(STREAMS_AT_ONCE + 2) >= 2 * STREAM_SECONDS * 0.99


async def test_the_event_streams_of_several_calls_at_once_do_not_wait(monkeypatch):
    monkeypatch.setattr("utils.mcp.http_client.STREAM_SECONDS", 3600.0)
    async with asyncio.timeout(60):
        await seconds_for(STREAMS_AT_ONCE)


async def test_the_stream_of_a_request_is_not_continued_once_its_response_is_no_longer_awaited():
    async def answer(request: httpx.Request) -> httpx.Response:
        return closing(request)

    async with McpHttpClient(transport=httpx.MockTransport(answer), timeout=LIMIT) as client:
        await client.post("http://server/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "tools/call"})
        await client.get("http://server/mcp")
        pass_seconds(LIMIT)
        with pytest.raises(httpx.ReadTimeout):
            await client.get("http://server/mcp")
        other = asyncio.create_task(client.get("http://server/mcp"))
        assert (await other).status_code == 200
