"""A proxy that holds connections whose server is gone: new ones are served, and the old ones answer nothing and do not end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import pytest

from tests.postgres import PostgresServer
from utils.persistence.postgres import answering
from utils.persistence.postgres.pool import PostgresPool

pytestmark = [pytest.mark.servers, pytest.mark.timeout(300)]


@dataclass
class Proxy:
    """Passes on what connections send that were opened since `forget` was called; the others are read and not passed on.

    Attributes:
        url: The address of the database behind it.
        swallowed: Told when something was not passed on.
    """

    url: str
    swallowed: asyncio.Event = field(default_factory=asyncio.Event)
    _since: int = 0

    def forget(self) -> None:
        """The server behind all present connections is gone."""
        self._since += 1

    async def copy(self, source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
        born = self._since
        while data := await source.read(65_536):
            if born == self._since:
                target.write(data)
            else:
                self.swallowed.set()
        target.close()


@asynccontextmanager
async def proxied(url: str) -> AsyncIterator[Proxy]:
    place = urlsplit(url)

    serving: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        back, forth = await asyncio.open_connection("127.0.0.1", place.port)
        try:
            await asyncio.gather(proxy.copy(reader, forth), proxy.copy(back, writer))
        finally:
            for each in (forth, writer):
                each.transport.abort()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        serving.add(asyncio.create_task(serve(reader, writer)))

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    proxy = Proxy(f"postgresql://{place.username}@127.0.0.1:{port}{place.path}")
    async with server:
        yield proxy
        for each in serving:
            each.cancel()
        await asyncio.gather(*serving, return_exceptions=True)


async def test_a_connection_whose_server_is_gone_behind_a_proxy_is_replaced(
    postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answering, "ANSWER_SECONDS", 0.5)
    async with proxied(postgres.new_database()) as proxy:
        pool = PostgresPool(postgres.settings(proxy.url, DATABASE_WAIT_SECONDS="30"), agent="test")
        await pool.open()
        assert await pool.one("SELECT 1") == (1,)
        proxy.forget()
        async with asyncio.timeout(60):
            assert await pool.one("SELECT 2") == (2,)
        assert proxy.swallowed.is_set()
        await pool.close()


async def test_a_canceled_statement_on_such_a_connection_ends(
    postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answering, "ANSWER_SECONDS", 0.5)
    async with proxied(postgres.new_database()) as proxy:
        pool = PostgresPool(postgres.settings(proxy.url), agent="test")
        await pool.open()
        assert await pool.one("SELECT 1") == (1,)
        proxy.forget()
        asking = asyncio.create_task(pool.one("SELECT 2"))
        await proxy.swallowed.wait()
        asking.cancel()
        async with asyncio.timeout(60):
            with pytest.raises(asyncio.CancelledError):
                await asking
        await pool.close()
