"""One address in front of several replicas: each connection goes to the next one that listens, as behind a load balancer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from urllib.parse import urlsplit

from utils.testing.live_server import loopback_socket

_PIECE = 1 << 16


class Balancer:
    """Passes connections on. A replica that does not listen is skipped; a connection whose replica dies breaks.

    Attributes:
        url: Its address.
        replicas: The addresses behind it.
    """

    def __init__(self) -> None:
        self._listener = loopback_socket()
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self.replicas: Sequence[str] = ()
        self._next = 0

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Take connections within the block."""
        server = await asyncio.start_server(self._pass_on, sock=self._listener)
        try:
            yield
        finally:
            server.close()

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for _ in self.replicas:
            address = urlsplit(self.replicas[self._next % len(self.replicas)])
            self._next += 1
            with suppress(OSError):
                there, back = await asyncio.open_connection(address.hostname, address.port)
                break
        else:
            writer.transport.abort()
            return
        ways = [asyncio.create_task(_copy(reader, back)), asyncio.create_task(_copy(there, writer))]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)
            writer.close()
            back.close()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while piece := await reader.read(_PIECE):
            writer.write(piece)
            await writer.drain()
