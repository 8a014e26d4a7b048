"""A request that tells its length in two ways, which a proxy before the agent may read in another way than the agent does."""

from __future__ import annotations

import asyncio
from urllib.parse import urlsplit

import pytest

from tests.e2e.wire.agents import echo
from tests.e2e.wire.wiring import serving

HIDDEN = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
BODY = b"0\r\n\r\n" + HIDDEN


async def told(url: str, sent: bytes) -> bytes:
    """All that comes back before the server closes the connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", urlsplit(url).port)
    try:
        writer.write(sent)
        await writer.drain()
        async with asyncio.timeout(30):
            return await reader.read()
    finally:
        writer.close()
        await writer.wait_closed()


@pytest.mark.parametrize("asked", [b"POST /", b"GET /readyz", b"POST /rest/message:send"])
async def test_a_request_that_tells_its_length_twice_is_refused_and_ends_its_connection(asked: bytes) -> None:
    lengths = b"Content-Length: %d\r\nTransfer-Encoding: chunked\r\n" % len(BODY)
    head = asked + b" HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    async with serving(echo) as wire:
        answer = await told(wire.url, head + lengths + b"\r\n" + BODY)
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert b"Send Content-Length or Transfer-Encoding, not both." in answer
    assert answer.count(b"HTTP/1.1 ") == 1


async def test_a_body_in_chunks_alone_is_served() -> None:
    lengths = b"Transfer-Encoding: chunked\r\nConnection: close\r\n"
    async with serving(echo) as wire:
        head = b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        answer = await told(wire.url, head + lengths + b"\r\n2\r\n{}\r\n0\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 200 ")
    assert b'"jsonrpc"' in answer
