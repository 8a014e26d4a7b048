"""How long clients keep connections: a request that crosses the server's close of an idle one is lost with a reset."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from utils.a2a_common.client.transport.connection import IDLE_SECONDS, http_client

pytestmark = pytest.mark.listens

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
AT_ONCE = 16


class Server:
    """Answers the first request of a connection and resets the connection at its second, as one that just timed out."""

    def __init__(self) -> None:
        self.open = 0
        self.all_here = asyncio.Barrier(AT_ONCE)
        self.few_open = asyncio.Event()
        self.handlers: set[asyncio.Task[None]] = set()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.open += 1
        request = await reader.readuntil(b"\r\n\r\n")
        if b"/together" in request:
            await self.all_here.wait()
        writer.write(ANSWER)
        await reader.read(1)
        writer.transport.abort()
        self.open -= 1
        if self.open <= AT_ONCE // 2:
            self.few_open.set()

    def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.handlers.add(asyncio.create_task(self._serve(reader, writer)))


@asynccontextmanager
async def serving(server: Server) -> AsyncIterator[str]:
    listening = await asyncio.start_server(server, "127.0.0.1", 0)
    async with listening:
        yield f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
        await asyncio.gather(*server.handlers)


async def test_a_connection_that_was_idle_for_long_is_not_used_again() -> None:
    async with serving(Server()) as url, http_client(url) as http:
        assert (await http.get(url)).text == "ok"
        await asyncio.sleep(IDLE_SECONDS + 0.1)
        assert (await http.get(url)).text == "ok"


async def test_few_idle_connections_are_kept_after_many_calls_at_once() -> None:
    server = Server()
    async with serving(server) as url, http_client(url) as http:
        await asyncio.gather(*(http.get(f"{url}/together") for _ in range(AT_ONCE)))
        async with asyncio.timeout(60):
            await server.few_open.wait()
