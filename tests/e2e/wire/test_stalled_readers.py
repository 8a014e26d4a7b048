"""Clients that read nothing of what they asked for are cut off, and nobody else: not the slow, not those whose answer is."""

from __future__ import annotations

import asyncio
import select
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from tests.e2e.observability.processes import KEYS, ready, started
from utils.a2a_common.server.http.connections import Bounds, bounded
from utils.observability.metrics import process_metrics
from utils.processes.event_loop import new_event_loop
from utils.testing.live_server import running

pytestmark = pytest.mark.timeout(120)

MIB = 1024**2
LARGE = 16 * MIB
"""More than the systems of both sides hold for a connection."""

LIMIT = 0.4
STALLED = 'platform_engineer_refusals_total{reason="write_stalled"} '
OPEN = "platform_engineer_open_connections "


async def large(_: Request) -> Response:
    return Response(b"x" * LARGE)


async def endless(_: Request) -> StreamingResponse:
    async def pieces() -> AsyncIterator[bytes]:
        while True:
            yield b"data: " + b"x" * 1_000 + b"\n\n"
            await asyncio.sleep(0)  # nothing else would let others run once the connection is gone

    return StreamingResponse(pieces(), media_type="text/event-stream")


async def quiet(_: Request) -> StreamingResponse:
    """A stream that says nothing for several limits, and then ends."""

    async def pieces() -> AsyncIterator[bytes]:
        yield b"data: 1\n\n"
        await asyncio.sleep(4 * LIMIT)
        yield b"data: 2\n\n"

    return StreamingResponse(pieces(), media_type="text/event-stream")


APP = Starlette(
    routes=[Route("/large", large), Route("/endless", endless), Route("/quiet", quiet)],
)


@contextmanager
def asked(url: str, path: str, *lines: str, times: int = 1, room: int = 4_096) -> Iterator[socket.socket]:
    """A connection that asks for something, so many times at once, and reads nothing."""
    request = "\r\n".join([f"GET /{path} HTTP/1.1", "Host: localhost", *lines, "", ""])
    with socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, room)
        client.connect(("127.0.0.1", int(url.rpartition(":")[2])))
        client.sendall(request.encode() * times)
        yield client


async def cut_off(client: socket.socket) -> None:
    """Return once the server has ended the connection, of which nothing is read."""
    watched = select.poll()
    watched.register(client, 0)
    async with asyncio.timeout(60):
        while not watched.poll(0):
            await asyncio.sleep(0.01)


async def read_slowly(client: socket.socket, piece: int, pause: float, most: int) -> int:
    """Read up to `most` bytes, a piece at a time with a pause after each; how many there were."""
    client.setblocking(False)
    loop, read = asyncio.get_running_loop(), 0
    while read < most and (data := await loop.sock_recv(client, piece)):
        read += len(data)
        await asyncio.sleep(pause)
    return read


async def tells_open(
    http: httpx.AsyncClient, url: str, number: int, *, beside: httpx.AsyncClient | None = None
) -> None:
    """Return once an agent tells that so many connections are open: that of `http`, and that of `beside`, which is used each time.

    The connection that asked whether the agent is ready may be open for a moment still.
    """
    async with asyncio.timeout(60):
        while True:
            if beside is not None:
                await beside.get(f"{url}/healthz")
            if f"{OPEN}{number}.0" in (await http.get(f"{url}/metrics")).text.splitlines():
                return
            await asyncio.sleep(0.02)


def stalled() -> float:
    found = process_metrics().registry.get_sample_value(
        STALLED.partition("{")[0], {"reason": "write_stalled"}
    )
    return found or 0.0


@pytest.mark.parametrize(
    ("path", "lines"), [("large", ()), ("large", ("Connection: close",)), ("endless", ())]
)
async def test_a_client_that_reads_nothing_of_an_answer_is_cut_off(path: str, lines: tuple[str, ...]) -> None:
    before = stalled()
    async with running(APP, http=bounded(Bounds(write_seconds=LIMIT))) as url:
        with asked(url, path, *lines) as client:
            await cut_off(client)
    assert stalled() == before + 1


async def test_whoever_reads_slowly_and_a_stream_that_says_nothing_are_not_cut_off() -> None:
    before = stalled()
    async with (
        running(APP, http=bounded(Bounds(write_seconds=LIMIT))) as url,
        httpx.AsyncClient(trust_env=False) as http,
    ):
        with asked(url, "large", "Connection: close", room=MIB) as steady, asked(url, "large") as dripping:
            said, whole, part = await asyncio.gather(
                http.get(f"{url}/quiet"),
                read_slowly(steady, MIB, LIMIT / 8, 2 * LARGE),
                read_slowly(dripping, 2_048, LIMIT / 8, 65_536),
            )
    assert said.text.count("data:") == 2
    assert whole > LARGE
    assert part >= 65_536
    assert stalled() == before


def test_the_loop_of_an_agent_cuts_off_as_that_of_the_tests() -> None:
    async def scenario() -> None:
        for path, lines in (("large", ()), ("large", ("Connection: close",)), ("endless", ())):
            await test_a_client_that_reads_nothing_of_an_answer_is_cut_off(path, lines)
        await test_whoever_reads_slowly_and_a_stream_that_says_nothing_are_not_cut_off()

    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        runner.run(scenario())


async def test_an_agent_tells_whom_it_cut_off_and_how_many_connections_are_open(tmp_path: Path) -> None:
    settings = {"WRITE_TIMEOUT_SECONDS": "3", "EMBEDDINGS_PROVIDER": "none"}
    with started(tmp_path, "keys", KEYS, settings) as served:
        async with ready(served), httpx.AsyncClient(trust_env=False) as http:
            async with httpx.AsyncClient(trust_env=False) as other:
                await tells_open(http, served.url, 2, beside=other)
            await tells_open(http, served.url, 1)
            with asked(served.url, "metrics", times=2_000) as client:
                await cut_off(client)
            assert STALLED + "1.0" in (await http.get(f"{served.url}/metrics")).text
            upgrade = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13"}
            plain = await http.get(f"{served.url}/healthz", headers=upgrade | {"Sec-WebSocket-Key": "YQ=="})
            assert plain.status_code == 200  # and no other protocol, which would have no such limits
    assert sum("write_stalled" in line for line in served.lines) == 1
