"""Connection poolers in front of PostgreSQL: one that keeps sessions is used, any other is refused at the start."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from itertools import cycle
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.ports import free_port
from tests.postgres import PostgresServer
from tests.programs import installed, serving
from utils.errors import SettingsError
from utils.persistence.postgres import startup
from utils.persistence.postgres.pool import PostgresPool

pytestmark = [pytest.mark.servers, pytest.mark.timeout(300)]

USER = "nobody"
"""Who runs the pooler where this is root, which it refuses."""

FORGETFUL = {"pool_mode": "session", "server_reset_query": ""}
"""A session that one client had goes to the next with the locks that the first one took."""


@asynccontextmanager
async def pooler(database: str, **settings: str) -> AsyncIterator[str]:
    """The address of a database behind a PgBouncer with these settings."""
    place, port = urlsplit(database), free_port()
    lines = {
        "listen_addr": "127.0.0.1",
        "listen_port": str(port),
        "unix_socket_dir": "",
        "auth_type": "any",
        **settings,
    }
    target = f"* = host={place.hostname} port={place.port} user={place.username}"
    body = "\n".join(f"{name} = {value}" for name, value in lines.items())
    with tempfile.TemporaryDirectory(prefix="pe-pooler-") as name:
        folder = Path(name)
        (folder / "ini").write_text(f"[databases]\n{target}\n[pgbouncer]\n{body}\n")
        (folder / "ini").chmod(0o644)  # the other user reads it
        folder.chmod(0o755)
        user = USER if os.geteuid() == 0 else None
        command = [installed("pgbouncer", "pgbouncer"), str(folder / "ini")]
        async with serving(command, port, folder / "log", user=user):
            yield f"postgresql://{place.username}@127.0.0.1:{port}{place.path}"


@asynccontextmanager
async def in_turn(*urls: str) -> AsyncIterator[str]:
    """The address of a balancer that gives each connection to the next of several poolers."""
    ports = cycle(urlsplit(url).port for url in urls)

    async def copy(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
        while data := await source.read(65_536):
            target.write(data)
        target.close()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        back, forth = await asyncio.open_connection("127.0.0.1", next(ports))
        await asyncio.gather(copy(reader, forth), copy(back, writer))

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    place = urlsplit(urls[0])
    async with server:
        port = server.sockets[0].getsockname()[1]
        yield f"postgresql://{place.username}@127.0.0.1:{port}{place.path}"


async def refused(postgres: PostgresServer, url: str) -> str:
    pool = PostgresPool(postgres.settings(url, DATABASE_CONNECT_SECONDS="5"), agent="test")
    try:
        with pytest.raises(SettingsError) as caught:
            await pool.open()
    finally:
        await pool.close()
    return caught.value.message


@pytest.mark.parametrize(
    "settings",
    [
        {"pool_mode": "transaction"},
        {"pool_mode": "transaction", "server_round_robin": "1"},
        {"pool_mode": "transaction", "server_reset_query_always": "1"},
        {"pool_mode": "statement"},
        FORGETFUL,
    ],
    ids=["transaction", "transaction-in-turn", "transaction-reset", "statement", "session-not-reset"],
)
async def test_a_pooler_that_keeps_no_sessions_is_refused_at_each_start(
    postgres: PostgresServer, settings: dict[str, str]
) -> None:
    async with pooler(postgres.new_database(), **settings) as url:
        for _ in range(3):
            assert await refused(postgres, url) == startup.POOLED


async def test_several_poolers_behind_one_address_are_refused_although_two_connections_share_none(
    postgres: PostgresServer,
) -> None:
    database = postgres.new_database()
    async with AsyncExitStack() as stack:
        urls = [await stack.enter_async_context(pooler(database, pool_mode="transaction")) for _ in range(2)]
        url = await stack.enter_async_context(in_turn(*urls))
        for _ in range(3):
            assert await refused(postgres, url) == startup.POOLED


async def test_a_pooler_in_session_mode_is_used(postgres: PostgresServer) -> None:
    async with pooler(postgres.new_database(), pool_mode="session") as url:
        for _ in range(3):
            pool = PostgresPool(postgres.settings(url), agent="test")
            await pool.open()
            assert await pool.one("SELECT 1") == (1,)
            await pool.close()
