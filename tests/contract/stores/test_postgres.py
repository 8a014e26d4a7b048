"""PostgreSQL as an agent's database: how it is opened, upgraded, shared, and what happens while it is away."""

from __future__ import annotations

import asyncio
import re
import socket
import subprocess
import sys
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from multi_agents.cli.database_check import NO_RIGHT, check_database
from tests.postgres import AGENT, PostgresServer, running_server
from utils.errors import SettingsError, StorageError
from utils.persistence.postgres import alone, probe, startup
from utils.persistence.postgres.alone import only_process_on
from utils.persistence.postgres.migrate import upgrade
from utils.persistence.postgres.names import LONGEST, schema_name
from utils.persistence.postgres.opening import open_database
from utils.persistence.postgres.pool import PostgresPool
from utils.persistence.postgres.probe import AWAY, LATE, READ_ONLY, PoolProbe
from utils.persistence.postgres.runs import PostgresRuns
from utils.persistence.postgres.secrets import SECRET_BYTES, shared_secret
from utils.persistence.postgres.task_log import PostgresTaskLogStore
from utils.persistence.postgres.versions import (
    VERSION_TABLE,
    Further,
    check_version,
    known_versions,
    version_of,
)
from utils.persistence.runs import RunRow
from utils.persistence.settings import DatabaseSettings
from utils.persistence.task_log_store import Record, RecordKind, Row, Stored, Write

pytestmark = [pytest.mark.servers, pytest.mark.timeout(300)]

SECRET = "correct-horse-battery"


def nothing(_reason: str) -> None:
    """Nobody is told."""


async def opened(
    settings: DatabaseSettings, stack: AsyncExitStack, *, agent: str = AGENT, only: bool = False
) -> PostgresPool:
    pool = await open_database(settings, agent, stack, alone=only, on_lost=nothing)
    assert pool is not None
    return pool


async def refused(settings: DatabaseSettings) -> str:
    async with AsyncExitStack() as stack:
        with pytest.raises(SettingsError) as caught:
            await opened(settings, stack)
    assert SECRET not in repr(caught.value)
    return caught.value.message


@pytest.mark.parametrize(
    ("url", "said"),
    [
        (f"postgresql://u:{SECRET}@127.0.0.1:1/x", startup.SILENT),
        (f"postgresql://u:{SECRET}@/x?host=/no-such-folder", startup.UNREACHABLE),
        (f"postgresql://u:{SECRET}@127.0.0.1:1,127.0.0.1:2/x", startup.UNREACHABLE),
        (f"postgresql://u:{SECRET}@[x", startup.UNREADABLE),
        (f"postgresql://u:{SECRET}@no-such-host.invalid/x", startup.UNKNOWN_HOST),
    ],
)
async def test_a_server_that_is_not_there_is_said_at_start_without_the_password(url: str, said: str) -> None:
    assert await refused(DatabaseSettings.load({"DATABASE_URL": url})) == said


async def test_another_kind_of_address_is_refused_as_a_setting() -> None:
    with pytest.raises(SettingsError, match="begins with postgresql://") as caught:
        DatabaseSettings.load({"DATABASE_URL": f"mysql://u:{SECRET}@host/x"})
    assert SECRET not in repr(caught.value)


async def test_a_database_that_does_not_exist_is_said_at_start(postgres: PostgresServer) -> None:
    assert await refused(postgres.settings(postgres.url("none"))) == startup.REFUSED


async def test_a_server_that_takes_the_connection_and_says_nothing_is_given_up() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"postgresql://u:{SECRET}@127.0.0.1:{silent.getsockname()[1]}/x"
        environ = {"DATABASE_URL": url, "DATABASE_CONNECT_SECONDS": "2"}
        assert await refused(DatabaseSettings.load(environ)) == startup.SLOW


async def test_a_server_that_is_too_old_is_refused(
    postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(startup, "OLDEST", 99)
    assert "This service needs 99 or later" in await refused(postgres.settings(postgres.new_database()))


async def test_a_database_that_can_only_be_read_is_refused(postgres: PostgresServer) -> None:
    url = postgres.new_database()
    postgres.execute(
        f"ALTER DATABASE {url.rpartition('/')[2]} SET default_transaction_read_only = on",
    )
    assert await refused(postgres.settings(url)) == startup.READ_ONLY


@pytest.mark.parametrize("encoding", ["SQL_ASCII", "LATIN1"])
async def test_a_database_that_does_not_hold_every_character_is_refused(
    postgres: PostgresServer, encoding: str
) -> None:
    url = postgres.url(f"in_{encoding.lower()}")
    postgres.execute(f"CREATE DATABASE in_{encoding.lower()} ENCODING '{encoding}' TEMPLATE template0")
    assert f"has the encoding {encoding}" in await refused(postgres.settings(url))
    postgres.drop_database(url)


async def test_a_role_whose_connections_begin_in_another_encoding_stores_every_character(
    postgres: PostgresServer,
) -> None:
    url = postgres.new_database()
    postgres.execute(f"ALTER DATABASE {url.rpartition('/')[2]} SET client_encoding = 'LATIN1'")
    async with AsyncExitStack() as stack:
        pool = await opened(postgres.settings(url), stack)
        assert await pool.one("SELECT %s::text", ("日本 🙂",)) == ("日本 🙂",)


async def test_what_is_stored_before_a_claim_is_seen_by_it_and_nothing_is_stored_after_it(
    postgres: PostgresServer,
) -> None:
    async with postgres.opened() as pool:
        store = PostgresTaskLogStore(pool)
        attempt, last = (await store.claim("t", "ann")).attempt, 0
        for number in range(1, 60):
            records = (Record(last + 1, RecordKind.CHUNK, b"x"),)
            row = Row("t", "ann", "c", 1, 1, b"", 0) if number == 1 else None
            write = Write("t", "ann", attempt, last, records, row)
            if number == 1:
                await store.append(write)
                last = 1
                continue
            stored, claimed = await asyncio.gather(
                store.append(write), store.claim("t", "ann"), return_exceptions=True
            )
            assert isinstance(claimed, Stored)
            last += stored is None
            assert claimed.last == last
            attempt = claimed.attempt


async def test_a_missing_driver_is_said_with_what_to_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "utils.persistence.postgres.pool", None)
    assert await refused(DatabaseSettings.load({"DATABASE_URL": "postgresql://h/x"})) == startup.NO_DRIVER


async def test_without_the_setting_no_driver_is_imported() -> None:
    code = (
        "import sys, utils.a2a_common.server.agent_process, utils.a2a_common.server.app, utils.persistence.stores\n"
        "print([name for name in ('psycopg', 'psycopg_pool', 'alembic') if name in sys.modules])"
    )
    root = Path(__file__).parents[3]
    done = await asyncio.to_thread(
        subprocess.run, [sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


async def test_the_first_start_makes_the_tables_and_the_next_finds_them(postgres: PostgresServer) -> None:
    settings = postgres.settings(postgres.new_database())
    async with AsyncExitStack() as stack:
        first = await opened(settings, stack)
        assert (await version_of(first)).current
        await PostgresRuns(first).put(RunRow("t", "c", "ann", b"x"))
    async with AsyncExitStack() as stack:
        again = await opened(settings, stack)
        assert [row.task_id for row in await PostgresRuns(again).rows()] == ["t"]


async def test_a_start_that_may_not_upgrade_names_the_command(postgres: PostgresServer) -> None:
    settings = postgres.settings(postgres.new_database(), DATABASE_MIGRATE="never")
    assert "Run `platform-engineer db upgrade` once" in await refused(settings)


async def test_tables_of_a_later_version_are_refused(postgres: PostgresServer) -> None:
    url = await postgres.migrated()
    postgres.execute(f"UPDATE {schema_name(AGENT)}.{VERSION_TABLE} SET version_num = '9999'", url)
    assert "upgraded by a later version" in await refused(postgres.settings(url))
    pool = PostgresPool(postgres.settings(url), agent=AGENT)
    await pool.open()
    with pytest.raises(SettingsError, match="later version"):
        await upgrade(pool, AGENT)
    await pool.close()


async def test_upgrades_at_once_make_the_tables_once(postgres: PostgresServer) -> None:
    settings = postgres.settings(postgres.new_database())
    made: list[str] = []

    async def make(pool: PostgresPool) -> None:
        made.append(pool.schema)
        await pool.execute("CREATE TABLE IF NOT EXISTS more (id int)")

    pools = [PostgresPool(settings, agent=agent) for agent in ("a", "a", "b")]
    for pool in pools:
        await pool.open()
    more = [Further("more", make)]
    await asyncio.gather(*(upgrade(pool, pool.schema, more) for pool in pools))
    for pool in pools:
        check_version(await version_of(pool, more), AGENT)
        assert not (await version_of(pool, [Further("still more", make)])).current
        await pool.close()
    assert set(made) == {"agent_a", "agent_b"}


async def test_every_text_that_an_index_holds_is_compared_byte_by_byte(postgres: PostgresServer) -> None:
    """An index outlives an update of the system's collations then."""
    url = await postgres.migrated()
    compared = postgres.execute(
        f"""
        SELECT DISTINCT tables.relname, columns.attname, collations.collname
        FROM pg_index AS indexes
        JOIN pg_class AS tables ON tables.oid = indexes.indrelid
        JOIN pg_attribute AS columns ON columns.attrelid = tables.oid AND columns.attnum = ANY (indexes.indkey)
        JOIN pg_collation AS collations ON collations.oid = columns.attcollation
        WHERE tables.relnamespace = '{schema_name(AGENT)}'::regnamespace
        AND tables.relname NOT LIKE 'checkpoint%' AND tables.relname NOT LIKE 'procrastinate%'
        AND tables.relname <> '{VERSION_TABLE}'
        """,
        url,
    )
    assert len(compared) > 20
    assert {(table, column) for table, column, collation in compared if collation != "C"} == {
        ("changes", "state"),
        ("delegations", "state"),
    }


def test_the_versions_of_the_tables_are_in_order() -> None:
    assert known_versions() == tuple(sorted(known_versions()))


async def test_a_secret_is_the_same_for_all_replicas_of_an_agent_and_for_no_other(
    postgres: PostgresServer,
) -> None:
    settings = postgres.settings(postgres.new_database())
    async with AsyncExitStack() as stack:
        one, again, other = [await opened(settings, stack, agent=name) for name in ("one", "one", "other")]
        made = await asyncio.gather(*(shared_secret(pool, "answers") for pool in (one, again, other)))
        assert made[0] == made[1] != made[2]
        assert await shared_secret(one, "answers") == made[0]
        assert len({*made, await shared_secret(one, "others")}) == 3
        assert all(len(secret) == SECRET_BYTES for secret in made)


async def test_agents_in_one_database_do_not_see_each_other(postgres: PostgresServer) -> None:
    settings = postgres.settings(postgres.new_database())
    names = ("one", 'o"ne; DROP', "o" * 70 + "1", "o" * 70 + "2")
    async with AsyncExitStack() as stack:
        pools = [await opened(settings, stack, agent=name, only=True) for name in names]
        for number, pool in enumerate(pools):
            await PostgresRuns(pool).put(RunRow(f"t{number}", "c", "ann", b"x"))
        for number, pool in enumerate(pools):
            assert [row.task_id for row in await PostgresRuns(pool).rows()] == [f"t{number}"]
        assert all(len(pool.schema.encode()) <= LONGEST for pool in pools)


async def test_a_second_process_of_an_agent_is_refused_until_the_first_has_ended(
    postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(alone, "PATIENCE_SECONDS", 0.0)
    settings = postgres.settings(await postgres.migrated())
    async with AsyncExitStack() as first:
        await opened(settings, first, only=True)
        async with AsyncExitStack() as second:
            with pytest.raises(SettingsError, match="another process works on its tables"):
                await opened(settings, second, only=True)
    async with AsyncExitStack() as third:
        await opened(settings, third, only=True)


@pytest.fixture(scope="module")
def unsteady():
    """A server that tests stop."""
    with running_server() as server:
        yield server


async def test_requests_wait_for_a_server_that_comes_back_and_fail_for_one_that_does_not(
    unsteady: PostgresServer,
) -> None:
    async with unsteady.opened(DATABASE_WAIT_SECONDS="60") as patient:
        await patient.execute("SELECT 1")
        hasty = PostgresPool(patient._settings.model_copy(update={"wait_seconds": 0.5}), agent=AGENT)
        await hasty.open()
        await asyncio.to_thread(unsteady.stop)
        with pytest.raises(StorageError) as caught:
            await PostgresRuns(hasty).put(RunRow("t", "c", "ann", b"x"))
        assert (caught.value.code, caught.value.retryable) == ("storage_failed", True)
        asked = PoolProbe(hasty)
        assert await asked.problem() in (LATE, AWAY)
        async with asyncio.timeout(60):
            while await asked.problem() != AWAY:
                await asyncio.sleep(0.05)
        waiting = asyncio.create_task(PostgresRuns(patient).put(RunRow("t", "c", "ann", b"x")))
        await asyncio.to_thread(unsteady.start)
        await waiting
        assert [row.task_id for row in await PostgresRuns(patient).rows()] == ["t"]
        async with asyncio.timeout(60):
            while await PoolProbe(hasty).problem():
                await asyncio.sleep(0.05)
        await hasty.close()


async def test_a_database_that_became_read_only_is_told_as_that_until_it_can_be_written(
    postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probe, "WAIT_SECONDS", 60.0)
    url = postgres.new_database()
    name = url.rpartition("/")[2]
    async with AsyncExitStack() as stack:
        pool = await opened(postgres.settings(url), stack)
        assert await PoolProbe(pool).problem() == ""
        for mode, told in (("on", READ_ONLY), ("off", "")):
            postgres.execute(f"ALTER DATABASE {name} SET default_transaction_read_only = {mode}")
            postgres.execute(
                f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'"
            )
            async with asyncio.timeout(60):
                while (problem := await PoolProbe(pool).problem()) == AWAY:  # its connections were ended
                    await asyncio.sleep(0.05)
            assert problem == told


async def test_a_listener_goes_on_after_the_server_was_away_and_is_told_to_look(
    unsteady: PostgresServer,
) -> None:
    async with unsteady.opened(DATABASE_WAIT_SECONDS="60") as pool:
        heard: asyncio.Queue[str] = asyncio.Queue()

        async def listen() -> None:
            async for payload in pool.listen("c"):
                heard.put_nowait(payload)

        listening = asyncio.create_task(listen())
        async with asyncio.timeout(120):
            assert await heard.get() == ""
            async with pool.connection() as connection:
                await pool.notify(connection, "c", "one")
            assert await heard.get() == "one"
            await asyncio.to_thread(unsteady.stop)
            await asyncio.to_thread(unsteady.start)
            assert await heard.get() == ""
            async with pool.connection() as connection:
                await pool.notify(connection, "c", "two")
            assert await heard.get() == "two"
        listening.cancel()


async def test_the_lock_of_a_process_is_taken_again_or_its_loss_is_told(
    unsteady: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(alone, "PATIENCE_SECONDS", 0.0)
    async with unsteady.opened(DATABASE_WAIT_SECONDS="60") as pool, AsyncExitStack() as stack:
        lost: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        await stack.enter_async_context(only_process_on(pool, lost.set_result))
        await asyncio.to_thread(unsteady.stop)
        await asyncio.to_thread(unsteady.start)
        async with asyncio.timeout(120):
            while not await _locks(pool):
                await asyncio.sleep(0.05)
            assert not lost.done()
            await asyncio.to_thread(unsteady.stop)
            await asyncio.to_thread(unsteady.start)
            thief = PostgresPool(pool._settings, agent=AGENT)
            await thief.open()
            monkeypatch.setattr(alone, "_number", lambda _: 7)  # as if another process had been quicker
            other = await thief.connect()
            await other.execute("SELECT pg_advisory_lock(7)")
            await pool.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND pid <> %s",
                (other.info.backend_pid,),
            )
            assert await lost == alone.IN_USE
            await other.close()
            await thief.close()


async def _locks(pool: PostgresPool) -> int:
    row = await pool.one("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'")
    return int(row[0]) if row else 0


async def test_the_room_that_each_agent_takes_is_told(postgres: PostgresServer) -> None:
    settings = postgres.settings(postgres.new_database())
    assert settings.url is not None
    environ = {"DATABASE_URL": settings.url.get_secret_value()}
    (empty,) = await check_database(environ)
    assert (empty.level, empty.message) == ("ok", "PostgreSQL can be used; no tables yet")
    async with AsyncExitStack() as stack:
        await opened(settings, stack, agent="one")
        await opened(settings, stack, agent="two")
    (full,) = await check_database(environ)
    assert re.search(r"agent_one \d\.\d MB, agent_two \d\.\d MB$", full.message)
    (away,) = await check_database({"DATABASE_URL": f"postgresql://u:{SECRET}@127.0.0.1:1/x"})
    assert (away.level, away.message) == ("wrong", startup.SILENT)
    assert await check_database({}) == []


async def test_doctor_finds_a_user_that_may_not_create_the_tables(postgres: PostgresServer) -> None:
    url = postgres.new_database()
    postgres.execute("CREATE ROLE guest LOGIN")
    environ = {"DATABASE_URL": url.replace("//postgres@", "//guest@")}
    (found,) = await check_database(environ)
    assert (found.level, found.message) == ("wrong", NO_RIGHT)
    (later,) = await check_database({**environ, "DATABASE_MIGRATE": "never"})
    assert later.level == "ok"
