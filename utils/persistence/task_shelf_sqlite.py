"""Task storage in a SQLite file."""

from __future__ import annotations

import asyncio
import sqlite3
from collections import OrderedDict, deque
from collections.abc import Iterable, Sequence
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import Any

from utils.errors import StorageError
from utils.persistence.database import Database
from utils.persistence.task_chunks import Chunk
from utils.persistence.task_shelf import Query, Row, Shelf, check_version
from utils.persistence.task_states import CUT_SHORT, TERMINAL
from utils.persistence.write_probe import WriteProbe

_SCHEMA = """
CREATE TABLE IF NOT EXISTS tasks (
    id TEXT PRIMARY KEY, owner TEXT NOT NULL, context_id TEXT NOT NULL, state INTEGER NOT NULL,
    updated INTEGER NOT NULL, body BLOB NOT NULL, version INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS tasks_by_time ON tasks (owner, updated, id);
CREATE INDEX IF NOT EXISTS tasks_by_context ON tasks (owner, context_id, updated, id);
CREATE INDEX IF NOT EXISTS tasks_by_state ON tasks (owner, state, updated, id);
CREATE TABLE IF NOT EXISTS task_chunks (
    task_id TEXT NOT NULL, position INTEGER NOT NULL, sequence INTEGER NOT NULL,
    append INTEGER NOT NULL, artifact BLOB NOT NULL, PRIMARY KEY (task_id, position, sequence)
) WITHOUT ROWID;
"""

_COLUMNS = "id, owner, context_id, state, updated, body, version"

MAX_WAITING = 1024
"""Chunks of one task that may be queued before its stream is slowed down."""

HOT_ROWS = 512
"""Rows cached in memory, which is safe since only one process writes the file."""


class SqliteShelf(Shelf):
    """Two tables of one file, which one process writes."""

    def __init__(self, path: Path) -> None:
        self._database = Database(path, _SCHEMA)
        self._pending: dict[str, deque[Future[None]]] = {}
        self._hot: OrderedDict[str, Row] = OrderedDict()
        self._probe = WriteProbe(self._database)

    async def open(self) -> int:
        """Open the file and return the highest sequence in it."""
        await self._database.open()
        return int(await self._database.read(_highest))

    async def close(self) -> None:
        """Finish queued writes and close the file."""
        await self._database.close()

    async def row(self, owner: str, task_id: str) -> Row | None:
        """The owner's task, or `None`; from memory when it was written recently."""
        hot = self._hot.get(task_id)
        if hot is not None:
            return hot if hot.owner == owner else None
        sql = f"SELECT {_COLUMNS} FROM tasks WHERE id = ? AND owner = ?"  # noqa: S608
        rows = await self._database.read(lambda db: db.execute(sql, (task_id, owner)).fetchall())
        return Row(*rows[0]) if rows else None

    async def put(self, row: Row, expected: int | None, replaced: Sequence[Chunk]) -> int:
        """Write a row. Unless its state marks a failure, all earlier chunks must have been written."""
        pending = () if row.state in CUT_SHORT else tuple(self._pending.get(row.id, ()))

        def write(db: sqlite3.Connection) -> int:
            _check(pending)  # those that are not done yet are part of the same transaction
            return _put(db, row, expected, replaced)

        version = await self._database.write(write)
        self._hot[row.id] = replace(row, version=version)
        self._hot.move_to_end(row.id)
        if len(self._hot) > HOT_ROWS:
            self._hot.popitem(last=False)
        if row.state in TERMINAL:
            self._pending.pop(row.id, None)
        return version

    async def append(self, task_id: str, chunk: Chunk) -> None:
        """Queue a chunk; waits only when many chunks of the task are queued already."""
        pending = self._pending.setdefault(task_id, deque())
        while pending and pending[0].done():
            _check([pending[0]])
            pending.popleft()
        pending.append(self._database.submit(lambda db: _insert(db, task_id, [chunk])))
        if len(pending) >= MAX_WAITING:
            await _done(pending[0])

    async def chunks(self, task_ids: Sequence[str]) -> dict[str, list[Chunk]]:
        """Chunks of each task."""
        for task_id in task_ids:
            if pending := self._pending.get(task_id):
                await _done(pending[-1])
        return await self._database.read(lambda db: {task_id: _chunks(db, task_id) for task_id in task_ids})

    async def writable(self) -> bool:
        """Whether the file can be written, by the last write or a probe."""
        return await self._probe.succeeds()

    async def page(self, query: Query) -> tuple[list[Row], int]:
        """Rows of one page."""
        return await self._database.read(lambda db: _page(db, query))

    async def delete(self, owner: str, task_id: str) -> None:
        """Delete a task."""
        self._hot.pop(task_id, None)
        self._pending.pop(task_id, None)
        await self._database.write(lambda db: _delete(db, owner, task_id))

    async def unfinished(self, states: Sequence[int]) -> list[Row]:
        """Rows in one of `states`."""
        marks = ",".join("?" * len(states))
        sql = f"SELECT {_COLUMNS} FROM tasks WHERE state IN ({marks})"  # noqa: S608
        rows = await self._database.read(lambda db: db.execute(sql, tuple(states)).fetchall())
        return [Row(*row) for row in rows]


def _check(writes: Iterable[Future[None]]) -> None:
    """Check the writes that are done.

    Raises:
        StorageError: One of them failed.
    """
    for write in writes:
        error = write.exception() if write.done() else None
        if error is not None:
            raise StorageError("The database failed. Try again.") from error


async def _done(write: Future[None]) -> None:
    """Wait until a write has ended or failed."""
    waiting = asyncio.wrap_future(write)
    waiting.add_done_callback(lambda ended: ended.exception())  # `_check` raises the error
    await asyncio.wait([waiting])


def _highest(db: sqlite3.Connection) -> int:
    return int(db.execute("SELECT coalesce(max(sequence), 0) FROM task_chunks").fetchone()[0])


def _put(db: sqlite3.Connection, row: Row, expected: int | None, replaced: Sequence[Chunk]) -> int:
    found = db.execute(f"SELECT {_COLUMNS} FROM tasks WHERE id = ?", (row.id,)).fetchone()  # noqa: S608
    stored = Row(*found) if found else None
    check_version(stored, row.owner, expected)
    version = stored.version + 1 if stored else 1
    db.execute(
        f"INSERT OR REPLACE INTO tasks ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)",  # noqa: S608
        (row.id, row.owner, row.context_id, row.state, row.updated, row.body, version),
    )
    for chunk in replaced:
        db.execute("DELETE FROM task_chunks WHERE task_id = ? AND position = ?", (row.id, chunk.position))
    _insert(db, row.id, replaced)
    return version


def _insert(db: sqlite3.Connection, task_id: str, chunks: Sequence[Chunk]) -> None:
    for chunk in chunks:
        db.execute(
            "INSERT INTO task_chunks VALUES (?, ?, ?, ?, ?)",
            (task_id, chunk.position, chunk.sequence, chunk.append, chunk.artifact),
        )


def _chunks(db: sqlite3.Connection, task_id: str) -> list[Chunk]:
    rows = db.execute(
        "SELECT sequence, position, append, artifact FROM task_chunks"
        " WHERE task_id = ? ORDER BY position, sequence",
        (task_id,),
    )
    return [Chunk(*row) for row in rows]


def _page(db: sqlite3.Connection, query: Query) -> tuple[list[Row], int]:
    where = ["owner = ?"]
    values: list[Any] = [query.owner]
    optional: list[tuple[str, Any]] = [
        ("context_id = ?", query.context_id or None),
        ("state = ?", query.state or None),
        ("updated >= ?", query.updated_from),
    ]
    for clause, value in optional:
        if value is not None:
            where.append(clause)
            values.append(value)
    count = f"SELECT count(*) FROM tasks WHERE {' AND '.join(where)}"  # noqa: S608
    total = int(db.execute(count, values).fetchone()[0])
    if query.after is not None:
        where.append("(updated, id) < (?, ?)")
        values.extend(query.after)
    sql = (
        f"SELECT {_COLUMNS} FROM tasks WHERE {' AND '.join(where)}"  # noqa: S608
        " ORDER BY updated DESC, id DESC LIMIT ?"
    )
    return [Row(*row) for row in db.execute(sql, (*values, query.limit))], total


def _delete(db: sqlite3.Connection, owner: str, task_id: str) -> None:
    if db.execute("DELETE FROM tasks WHERE id = ? AND owner = ?", (task_id, owner)).rowcount:
        db.execute("DELETE FROM task_chunks WHERE task_id = ?", (task_id,))
