"""What counts towards a limit of what is stored: rows that are there, and no space that is free to be used again."""

from __future__ import annotations

import os
from contextlib import AsyncExitStack

import pytest

from tests.postgres import AGENT, PARAMETER, PostgresServer
from utils.persistence.in_use import KINDS, in_use_of_files, in_use_of_tables
from utils.persistence.postgres.names import schema_name
from utils.persistence.postgres.task_log import PostgresTaskLogStore
from utils.persistence.sqlite_file import MemoryFolder
from utils.persistence.task_log_sqlite import SqliteTaskLogStore
from utils.persistence.task_log_store import Record, RecordKind, Row, TaskLogStore, Write

TASKS, EACH = 40, 20_000
LIMITS = {"tasks": 1}


@pytest.fixture(params=["sqlite", "sqlite-in-memory", PARAMETER])
async def storage(request, tmp_path):
    """A store of tasks, and what counts of it."""
    async with AsyncExitStack() as stack:
        if request.param == "postgresql":
            pool = await stack.enter_async_context(request.getfixturevalue("postgres").opened())
            store: TaskLogStore = PostgresTaskLogStore(pool)

            async def in_use():
                return await in_use_of_tables(pool, LIMITS)

        elif request.param == "sqlite":
            store = SqliteTaskLogStore(tmp_path / "tasks.sqlite")

            async def in_use():
                return in_use_of_files(tmp_path, ("tasks",))

        else:
            memory = MemoryFolder()
            stack.callback(memory.close)
            store = SqliteTaskLogStore(memory / "tasks.sqlite")

            async def in_use():
                return memory.in_use(("tasks",))

        await store.open()
        yield store, in_use
        await store.close()


async def test_what_is_written_counts_and_what_is_deleted_does_not(storage):
    store, in_use = storage
    empty = (await in_use())["tasks"]
    for number in range(TASKS):
        await _write(store, f"t{number}")
    full = (await in_use())["tasks"]
    assert full - empty == pytest.approx(TASKS * EACH, rel=0.2)
    for number in range(TASKS // 2):
        await store.delete(f"t{number}", "ann")
    half = (await in_use())["tasks"]
    assert half - empty == pytest.approx(TASKS * EACH / 2, rel=0.2)


def test_a_kind_that_is_not_there_takes_nothing(tmp_path):
    assert in_use_of_files(tmp_path, ("tasks", "artifacts")) == {"tasks": 0, "artifacts": 0}
    assert MemoryFolder().in_use(("tasks",)) == {}


@pytest.mark.servers
async def test_every_kind_is_made_of_tables_that_exist(postgres: PostgresServer) -> None:
    named = f"SELECT tablename FROM pg_tables WHERE schemaname = '{schema_name(AGENT)}'"
    there = {table for (table,) in postgres.execute(named, await postgres.migrated())}
    assert {table for tables in KINDS.values() for table in tables} <= there


async def _write(store, task_id: str) -> None:
    """A task with an answer that cannot be compressed."""
    attempt = (await store.claim(task_id, "ann")).attempt
    row = Row(task_id, "ann", "c", 3, 1, b"head", 1)
    await store.append(
        Write(task_id, "ann", attempt, 0, (Record(1, RecordKind.TASK, os.urandom(EACH)),), row)
    )
