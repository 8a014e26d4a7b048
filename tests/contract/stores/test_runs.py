"""Every store of runs: SQLite, PostgreSQL and memory."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from cryptography.fernet import Fernet

from tests.postgres import ENCRYPTED, PARAMETER
from utils.encryption.codec import Codec
from utils.persistence.encrypted.stores import EncryptedRuns
from utils.persistence.postgres.runs import PostgresRuns
from utils.persistence.runs import MemoryRuns, RunRow, RunStore, SqliteRuns
from utils.persistence.sqlite_file import MemoryFolder


@pytest.fixture(params=["sqlite", "sqlite-encrypted", "sqlite-in-memory", "memory", PARAMETER, ENCRYPTED])
async def runs(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[RunStore]:
    async with AsyncExitStack() as stack:
        store = await _made(request, tmp_path, stack)
        if "encrypted" in request.param:
            store = EncryptedRuns(store, Codec([Fernet.generate_key().decode()]))
        await store.open()
        yield store
        await store.close()


async def _made(request: pytest.FixtureRequest, folder: Path, stack: AsyncExitStack) -> RunStore:
    if "postgresql" in request.param:
        return PostgresRuns(await stack.enter_async_context(request.getfixturevalue("postgres").opened()))
    if request.param == "sqlite-in-memory":
        memory = MemoryFolder()
        stack.callback(memory.close)
        return SqliteRuns(memory / "runs.sqlite")
    return SqliteRuns(folder / "runs.sqlite") if "sqlite" in request.param else MemoryRuns()


def row(task_id: str, *, writer: int = 1, attempts: int = 0, body: bytes = b"{}") -> RunRow:
    return RunRow(task_id, f"conversation of {task_id}", "owner", body, writer, attempts)


async def test_rows_come_back_whole_and_oldest_first(runs: RunStore) -> None:
    rows = [row(name, body=name.encode()) for name in ("c", "a", "b")]
    for each in rows:
        await runs.put(each)
    assert await runs.rows() == rows


async def test_a_task_has_one_row_and_a_newer_turn_stands_behind_the_others(runs: RunStore) -> None:
    await runs.put(row("a"))
    await runs.put(row("b"))
    await runs.put(row("a", writer=2, body=b"newer"))
    assert [(each.task_id, each.body) for each in await runs.rows()] == [("b", b"{}"), ("a", b"newer")]


async def test_the_row_of_a_newer_writer_is_not_replaced_by_one_that_comes_late(runs: RunStore) -> None:
    await runs.put(row("a", writer=5, body=b"newer"))
    await runs.put(row("a", writer=2, body=b"late"))
    assert await runs.rows() == [row("a", writer=5, body=b"newer")]


async def test_a_row_is_removed_by_its_own_writer_and_by_none_before_it(runs: RunStore) -> None:
    await runs.put(row("a", writer=3))
    await runs.remove("a", writer=2)
    assert [each.task_id for each in await runs.rows()] == ["a"]
    await runs.remove("a", writer=3)
    await runs.remove("a", writer=3)
    assert await runs.rows() == []


async def test_a_turn_that_is_taken_over_keeps_its_place_and_says_by_whom_and_how_often(
    runs: RunStore,
) -> None:
    await runs.put(row("a"))
    await runs.put(row("b"))
    await runs.take("a", writer=4, attempts=2)
    await runs.take("a", writer=3, attempts=1)
    await runs.take("gone", writer=1, attempts=1)
    assert await runs.rows() == [row("a", writer=4, attempts=2), row("b")]


async def test_a_row_outlives_its_process(tmp_path: Path) -> None:
    for _ in range(2):
        store = SqliteRuns(tmp_path / "runs.sqlite")
        await store.open()
        if not await store.rows():
            await store.put(row("a", attempts=1))
        await store.close()
    await store.open()
    assert await store.rows() == [row("a", attempts=1)]
    await store.close()


async def test_what_an_owner_has_under_way_is_counted_and_measured(runs: RunStore) -> None:
    assert await runs.under_way("owner") == (0, 0)
    await runs.put(row("a", body=b"x" * 3_000))
    await runs.put(row("b", body=b"x" * 1_000))
    await runs.put(RunRow("c", "conversation of c", "another", b"x", 1, 0))
    turns, size = await runs.under_way("owner")
    assert turns == 2
    assert 4_000 <= size < 8_000
    await runs.remove("a", writer=1)
    assert (await runs.under_way("owner")).turns == 1
