"""What a database is set to for all who use it changes nothing of what an agent stores and hears."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import datetime
from pathlib import Path

import psycopg
import pytest

from tests.postgres import PostgresServer
from utils.persistence.postgres import pool as pool_module
from utils.persistence.postgres.errors import DatabaseHeld, DatabaseReadOnly, DatabaseUnreachable
from utils.persistence.postgres.own_tables import own_tables
from utils.persistence.postgres.pool import PostgresPool

pytestmark = [pytest.mark.servers, pytest.mark.timeout(300)]

EVERY_BYTE = bytes(range(256)) + b"\\x5c\\134"


@asynccontextmanager
async def opened(postgres: PostgresServer, setting: str, **own: str) -> AsyncIterator[PostgresPool]:
    """Connections to a new database with a setting for all who use it; `own` are settings of the process."""
    url = postgres.new_database()
    postgres.execute(f"ALTER DATABASE {url.rpartition('/')[2]} SET {setting}")
    pool = PostgresPool(postgres.settings(url, **own), agent="test")
    await pool.open()
    try:
        yield pool
    finally:
        await pool.close()


@pytest.mark.parametrize(
    "setting",
    ["standard_conforming_strings = off", "bytea_output = escape"],
)
async def test_every_byte_is_read_as_it_was_written(postgres: PostgresServer, setting: str) -> None:
    async with opened(postgres, setting) as pool:
        await pool.execute("CREATE SCHEMA agent_test")
        await pool.execute("CREATE TABLE kept (value bytea)")
        await pool.execute("INSERT INTO kept SELECT unnest(%s::bytea[])", ([EVERY_BYTE, EVERY_BYTE],))
        assert await pool.one("SELECT array_agg(value) FROM kept") == ([EVERY_BYTE, EVERY_BYTE],)


@pytest.mark.parametrize(
    ("setting", "query", "value"),
    [
        ("extra_float_digits = -5", "SELECT 1790000000.1234567::double precision", 1790000000.1234567),
        ("DateStyle = 'German, DMY'", "SELECT timestamp '2026-02-01 03:04'", datetime(2026, 2, 1, 3, 4)),
    ],
)
async def test_numbers_and_times_are_read_as_they_are_stored(
    postgres: PostgresServer, setting: str, query: str, value: object
) -> None:
    async with opened(postgres, setting) as pool:
        assert await pool.one(query) == (value,)


async def test_a_listener_is_not_ended_for_being_silent(postgres: PostgresServer) -> None:
    async with opened(postgres, "idle_session_timeout = '1s'") as pool:
        heard: asyncio.Queue[str] = asyncio.Queue()

        async def listen() -> None:
            async for payload in pool.listen("c"):
                heard.put_nowait(payload)

        listening = asyncio.create_task(listen())
        assert await heard.get() == ""
        other = await psycopg.AsyncConnection.connect(pool.conninfo, autocommit=True)
        with pytest.raises(psycopg.OperationalError):  # one with the setting has ended
            async for _ in other.notifies():
                pass
        async with pool.connection() as connection:
            await pool.notify(connection, "c", "after")
        assert await heard.get() == "after"
        listening.cancel()
        await asyncio.wait([listening])


async def test_a_statement_of_an_upgrade_takes_as_long_as_it_takes(postgres: PostgresServer) -> None:
    async with opened(postgres, "statement_timeout = '100ms'") as pool:
        connection = await pool.connect(wait_seconds=0)
        await connection.execute("SELECT pg_sleep(0.5)")
        await connection.close()


async def test_an_agents_own_migration_takes_as_long_as_it_takes(
    postgres: PostgresServer, tmp_path: Path
) -> None:
    (tmp_path / "0001_slow.sql").write_text("SELECT pg_sleep(0.5)")
    async with opened(postgres, "statement_timeout = '100ms'") as pool:
        await pool.execute("CREATE SCHEMA agent_test")
        own = own_tables(tmp_path)
        await own.apply(pool)
        assert await pool.one(f"SELECT version_num FROM {own.table}") == ("0001",)


async def test_a_wait_for_a_lock_ends_with_a_sentence_on_the_lock_although_the_server_allows_less(
    postgres: PostgresServer,
) -> None:
    own = {"DATABASE_WAIT_SECONDS": "0.5"}
    async with opened(postgres, "statement_timeout = '50ms'", **own) as pool, pool.transaction() as holder:
        await holder.execute("SELECT pg_advisory_xact_lock(1)")
        with pytest.raises(DatabaseHeld):
            await pool.execute("SELECT pg_advisory_lock(1)")


async def test_a_transaction_takes_as_long_as_it_takes(postgres: PostgresServer) -> None:
    setting = "transaction_timeout" if _has_transaction_timeout(postgres) else "statement_timeout"
    async with (
        opened(postgres, f"{setting} = '100ms'") as pool,
        pool.transaction() as connection,
    ):
        await connection.execute("SELECT pg_sleep(0.5)")


def _has_transaction_timeout(postgres: PostgresServer) -> bool:
    """Whether the server is PostgreSQL 17 or newer, which limits whole transactions, too."""
    with psycopg.connect(postgres.url()) as connection:
        return connection.info.server_version >= 170_000


async def test_a_server_that_takes_no_writes_for_now_is_told_as_such(postgres: PostgresServer) -> None:
    async with opened(postgres, "work_mem = '4MB'") as pool:
        await pool.execute("CREATE SCHEMA agent_test")
        with pytest.raises(DatabaseReadOnly) as refused:
            await _write_read_only(pool)
        assert refused.value.message.startswith("The database can only be read at the moment")
        assert refused.value.retryable


async def test_a_connection_to_a_server_that_took_no_write_is_not_used_again(
    postgres: PostgresServer,
) -> None:
    statement = "CREATE TABLE IF NOT EXISTS kept (value int)"
    async with opened(postgres, "work_mem = '4MB'", DATABASE_CONNECTIONS="2") as pool:
        await pool.execute("CREATE SCHEMA agent_test")
        async with pool.connection() as one, pool.connection() as other:
            for each in (one, other):  # as those are that lead to a server that was demoted
                await each.execute("SET default_transaction_read_only TO on")
        with pytest.raises(DatabaseReadOnly):
            await pool.execute(statement)
        with suppress(DatabaseReadOnly):
            await pool.execute(statement)
        await pool.execute(statement)


async def _write_read_only(pool: PostgresPool) -> None:
    async with pool.transaction() as connection:
        await connection.execute("SET TRANSACTION READ ONLY")
        await connection.execute("CREATE TABLE kept (value int)")


async def test_a_transaction_whose_process_says_no_more_ends_and_gives_up_its_locks(
    postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool_module, "STANDSTILL_SECONDS", 0.2)
    async with opened(postgres, "idle_in_transaction_session_timeout = 0") as pool:

        async def stand_still() -> None:
            async with pool.transaction() as standing:
                await standing.execute("SELECT pg_advisory_xact_lock(1)")
                async with pool.connection() as other:
                    await other.execute("SELECT pg_advisory_lock(1)")
                await standing.execute("SELECT 1")

        with pytest.raises(DatabaseUnreachable):
            await stand_still()
