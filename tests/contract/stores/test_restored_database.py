"""What looks restored at a start: other tables than at the last one, and nothing else."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from tests.postgres import AGENT, PostgresServer
from utils.errors import StorageError
from utils.persistence.postgres.errors import DatabaseUnreachable
from utils.persistence.postgres.names import schema_name
from utils.persistence.postgres.pool import PostgresPool
from utils.persistence.postgres.restored import REPLACED, RESTORING, halt_restored_turns, same_tables
from utils.persistence.postgres.runs import PostgresRuns
from utils.persistence.runs import RESTORED, RunRow

pytestmark = [pytest.mark.servers, pytest.mark.timeout(300)]

USER = "may_not_ask"

PREPARED = 6
"""Uses of a connection after which the driver has prepared the statements of its check."""


async def started(pool: PostgresPool) -> int:
    """How often a turn counts as taken over, once a process has started that finds it in the tables."""
    runs = PostgresRuns(pool)
    await runs.put(RunRow("t", "c", "o", b"turn", 1))
    await halt_restored_turns(pool)
    (row,) = await runs.rows()
    return row.attempts


@asynccontextmanager
async def opened_by(server: PostgresServer, url: str) -> AsyncIterator[PostgresPool]:
    """Connections of a user who may ask for the number of the server only if it is granted."""
    schema = schema_name(AGENT)
    server.execute(f"CREATE ROLE {USER} LOGIN")
    for grant in (
        f"GRANT USAGE ON SCHEMA {schema} TO {USER}",
        f"GRANT ALL ON ALL TABLES IN SCHEMA {schema} TO {USER}",
        f"GRANT ALL ON ALL SEQUENCES IN SCHEMA {schema} TO {USER}",
    ):
        server.execute(grant, url)
    pool = PostgresPool(server.settings(url.replace("//postgres@", f"//{USER}@")), agent=AGENT)
    await pool.open()
    try:
        yield pool
    finally:
        await pool.close()
        server.drop_database(url)
        server.execute(f"DROP ROLE {USER}")


def allow(server: PostgresServer, url: str, *, to_ask: bool) -> None:
    word = (
        "GRANT EXECUTE ON FUNCTION pg_control_system() TO"
        if to_ask
        else "REVOKE EXECUTE ON FUNCTION pg_control_system() FROM"
    )
    server.execute(f"{word} PUBLIC", url)


@pytest.mark.parametrize("at_first", [True, False], ids=["no longer", "only later"])
async def test_turns_go_on_where_the_user_may_ask_for_the_number_of_the_server_at_one_start_alone(
    postgres: PostgresServer, at_first: bool
) -> None:
    url = await postgres.migrated()
    async with opened_by(postgres, url) as pool:
        found = []
        for may_ask in (at_first, not at_first, at_first):
            allow(postgres, url, to_ask=may_ask)
            found.append(await started(pool))
        assert found == [0, 0, 0]


async def test_another_server_is_noticed_although_a_start_between_could_not_ask_for_its_number(
    postgres: PostgresServer,
) -> None:
    url = await postgres.migrated()
    async with opened_by(postgres, url) as pool:
        await started(pool)
        of_another = (
            "UPDATE secrets SET value = regexp_replace(convert_from(value, 'UTF8'), '/[0-9]+', '/1')::bytea"
        )
        assert await pool.execute(of_another) == 1
        allow(postgres, url, to_ask=False)
        assert await started(pool) == 0
        allow(postgres, url, to_ask=True)
        assert await started(pool) == RESTORED
        assert await started(pool) == 0


async def test_tables_that_were_made_anew_in_the_same_database_are_noticed(postgres: PostgresServer) -> None:
    async with postgres.opened() as pool:
        assert await started(pool) == 0
        for statement in (
            "CREATE TABLE dumped AS TABLE secrets",
            "ALTER TABLE secrets RENAME TO of_before",
            "CREATE TABLE secrets (LIKE of_before INCLUDING ALL)",
            "INSERT INTO secrets TABLE dumped",
        ):
            await pool.execute(statement)
        assert await started(pool) == RESTORED
        assert await started(pool) == 0


@pytest.mark.parametrize(
    "statement",
    [
        "VACUUM FULL secrets",
        "CLUSTER secrets USING secrets_pkey",
        "ALTER TABLE secrets ALTER COLUMN value TYPE bytea USING value || ''::bytea",
        "ALTER TABLE secrets DROP CONSTRAINT secrets_pkey, ADD PRIMARY KEY (name)",
    ],
)
async def test_a_table_that_is_rewritten_is_the_same_to_processes_that_run_and_that_start(
    postgres: PostgresServer, statement: str
) -> None:
    async with postgres.opened() as pool:
        ends: list[str] = []
        assert await started(pool) == 0
        pool.check = same_tables(await halt_restored_turns(pool), ends.append)
        await pool.execute(statement)
        await (await pool.connect()).close()
        assert await started(pool) == 0
        assert ends == []


async def test_no_process_starts_while_the_rows_of_a_table_are_still_being_restored(
    postgres: PostgresServer,
) -> None:
    async with postgres.opened() as pool:
        assert await started(pool) == 0
        for statement in (
            "CREATE TABLE dumped AS TABLE secrets",
            "DROP TABLE secrets",
            "ALTER TABLE dumped RENAME TO secrets",
            "ALTER TABLE secrets ADD PRIMARY KEY (name)",
            "ALTER TABLE tasks DROP CONSTRAINT tasks_pkey",
        ):
            await pool.execute(statement)
        with pytest.raises(StorageError) as refused:
            await halt_restored_turns(pool)
        assert refused.value.for_operator == RESTORING
        await pool.execute("ALTER TABLE tasks ADD PRIMARY KEY (id)")
        assert await started(pool) == RESTORED


@pytest.mark.parametrize("new", [True, False], ids=["new connection", "open connection"])
async def test_tables_that_are_still_being_restored_are_not_used_and_the_process_ends_once_they_are(
    new: bool,
    postgres: PostgresServer,
) -> None:
    ends: list[str] = []
    async with postgres.opened() as pool:
        await pool.execute("CREATE TABLE without_a_key (number INTEGER)")
        pool.check = same_tables(await halt_restored_turns(pool), ends.append)

        async def use() -> None:
            if new:
                await (await pool.connect()).close()
            else:
                await pool.execute("SELECT 1")

        for _ in range(PREPARED):
            await use()
        restoring = await pool.connect()
        for statement in (
            "CREATE TABLE dumped AS TABLE secrets",
            "DROP TABLE secrets",
            "ALTER TABLE dumped RENAME TO secrets",
            "ALTER TABLE task_events DROP CONSTRAINT task_events_pkey",
        ):
            await restoring.execute(statement.encode())
        for finished in ("secrets ADD PRIMARY KEY (name)", "task_events ADD PRIMARY KEY (task_id, sequence)"):
            with pytest.raises(DatabaseUnreachable):
                await use()
            assert ends == []
            await restoring.execute(f"ALTER TABLE {finished}".encode())
        await restoring.close()
        for _ in range(2):
            with pytest.raises(DatabaseUnreachable):
                await use()
        assert ends == [REPLACED]
