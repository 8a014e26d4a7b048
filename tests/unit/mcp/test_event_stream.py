"""A stream of events has an answer at its end, unless the client of MCP can ask for the rest of it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator

import httpx
import pytest

from utils.mcp.event_stream import Awaited, with_certain_response

EVENT = b'data: {"jsonrpc": "2.0"}'


async def body_of(*parts: bytes, breaks: bool = False) -> bytes:
    """What is read of a stream that comes in these parts."""

    async def stream() -> AsyncIterator[bytes]:
        for part in parts:
            yield part
        if breaks:
            raise httpx.ReadError("broken off")

    request = httpx.Request("POST", "http://server/mcp")
    response = httpx.Response(200, content=stream(), request=request)
    return await with_certain_response(response, Awaited(7)).aread()


@pytest.mark.parametrize("breaks", [False, True])
@pytest.mark.parametrize("parts", [(), (EVENT,), (EVENT, b"\n\n"), (b": id: 1\n\n",)])
async def test_a_stream_that_ends_tells_so_in_an_event_of_its_own(parts, breaks):
    body = await body_of(*parts, breaks=breaks)
    assert body.startswith(b"".join(parts) + b"\n\n")
    assert body.endswith(b"\n\n")
    answer = json.loads(body.rpartition(b"\n\ndata: ")[2])
    assert (answer["id"], answer["error"]["data"]["status"]) == (7, None)


@pytest.mark.parametrize("breaks", [False, True])
@pytest.mark.parametrize(
    "parts",
    [
        (b"id: 1\ndata:\n\n",),
        (b"i", b"d", b":", b" 1\ndata:\n\n"),
        (EVENT, b"\r", b"i", b"d: 1\r\r"),
        (EVENT + b"\r\nid:1\r\n\r\n",),
    ],
)
async def test_a_stream_whose_rest_can_be_asked_for_stays_as_it_is(parts, breaks):
    assert await body_of(*parts, breaks=breaks) == b"".join(parts)


async def test_a_character_that_is_no_text_is_replaced_wherever_a_part_ends() -> None:
    event = rb'data: {"a": "x\ud800y\ud83d\ude00"}' + b"\n\n"
    for cut in range(len(event)):
        assert (await body_of(event[:cut] or b":\n", event[cut:])).count(rb"x\ufffdy\ud83d\ude00") == 1


@pytest.mark.parametrize("resumes", [False, True])
async def test_a_stream_that_never_ends_is_read_until_its_request_is_no_longer_awaited(resumes: bool) -> None:
    async def beats() -> AsyncIterator[bytes]:
        yield b"id: 1\ndata:\n\n"
        await asyncio.Event().wait()

    due = asyncio.get_running_loop().time() + 0.05
    response = httpx.Response(200, content=beats(), request=httpx.Request("POST", "http://server/mcp"))
    body = await with_certain_response(response, Awaited(7, due), resumes=resumes).aread()
    assert json.loads(body.rpartition(b"\n\ndata: ")[2])["error"]["data"]["late"] is True
