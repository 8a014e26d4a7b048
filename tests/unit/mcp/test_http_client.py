"""A server of MCP that closes its event streams at once does not keep its agent busy with opening them."""

from __future__ import annotations

import asyncio

import httpx

from utils.mcp.http_client import STREAM_SECONDS, STREAMS_AT_ONCE, McpHttpClient

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


async def test_the_event_streams_of_several_calls_at_once_do_not_wait():
    assert await seconds_for(STREAMS_AT_ONCE) < STREAM_SECONDS
