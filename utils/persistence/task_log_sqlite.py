"""Task logs in a SQLite file."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from utils.persistence.database import Database
from utils.persistence.database_failures import StorageDamaged, is_damage
from utils.persistence.sqlite_file import SqliteFile
from utils.persistence.task_log_schema import prepare
from utils.persistence.task_log_store import (
    BATCH_BYTES,
    CHANGES,
    LEFT_OUT,
    LOST,
    ContextRow,
    IdleContext,
    Query,
    Record,
    RecordKind,
    Refusal,
    Row,
    Stored,
    StoredTimes,
    TaskLogStore,
    Write,
    WriteRefused,
    check_write,
)
from utils.persistence.task_states import TERMINAL
from utils.persistence.write_probe import WriteProbe

_ROW = "id, owner, context_id, state, updated, body, sequence"

NOT_WRITTEN = "Tasks cannot be stored: the disk may be full, or the file is locked, damaged or gone. The log has the details."
"""The sentence for the operator if a write would fail."""


class SqliteTaskLogStore(TaskLogStore):
    """Three tables in one file: heads of tasks, their events, and the process that may write."""

    def __init__(self, path: SqliteFile) -> None:
        self._database = Database(path, prepare)
        self._probe = WriteProbe(self._database)

    async def open(self) -> None:
        """Open the file; one of an earlier version is brought to this one."""
        await self._database.open()

    async def close(self) -> None:
        """Finish queued writes and close the file."""
        await self._database.close()

    async def not_written(self) -> str:
        """Why the file cannot be written, by the last write or a probe."""
        return "" if await self._probe.succeeds() else NOT_WRITTEN

    async def claim(self, task_id: str, owner: str) -> Stored:
        """Begin the next attempt."""
        return await self._database.write(lambda db: _claim(db, task_id, owner))

    async def append(self, write: Write) -> None:
        """Store a write."""
        await self._database.write(lambda db: _append(db, write))

    async def look(self, task_id: str, owner: str) -> Stored | None:
        """The stored task."""
        stored = await self._database.read(lambda db: _look(db, task_id))
        return stored if stored is not None and stored.owner == owner else None

    async def events(
        self, task_id: str, *, after: int, limit: int, kinds: frozenset[RecordKind] | None = None
    ) -> list[Record]:
        """The next events."""
        return await self._database.read(lambda db: _events(db, task_id, after, limit, kinds))

    async def page(self, query: Query) -> tuple[list[Row], int]:
        """Rows of one page of results; if a page of the file is damaged, all rows on the others."""
        with contextlib.suppress(StorageDamaged):  # it is logged with the name of the file
            return await self._database.read(lambda db: _page(db, query))
        return await self._database.read(lambda db: _page_by_indexes(db, query))

    async def unfinished(self, states: Sequence[int]) -> list[Row]:
        """Rows in one of `states`."""
        # found by an index alone, so that a damaged page costs nothing where all that stood on it has ended
        found = f"SELECT id FROM tasks INDEXED BY tasks_by_state WHERE state IN ({_numbers(states)})"  # noqa: S608
        sql = f"SELECT {_ROW} FROM tasks WHERE id IN ({found})"  # noqa: S608
        rows = await self._database.read(lambda db: db.execute(sql).fetchall())
        return [Row(*row) for row in rows]

    async def idle(self, before: int, limit: int, *, ended: bool = False) -> list[IdleContext]:
        """Conversations without recent turns."""
        return await self._database.read(lambda db: _idle(db, before, limit, ended=ended))

    async def times(self) -> StoredTimes:
        """When the newest task changed."""
        return StoredTimes(await self._database.read(lambda db: db.execute(_NEWEST).fetchone()[0]))

    async def count_contexts(self) -> int:
        """All conversations."""
        return int(await self._database.read(lambda db: db.execute(_COUNT).fetchone()[0]))

    async def contexts(self, owner: str, after: tuple[int, str], limit: int) -> list[ContextRow]:
        """Conversations of an owner."""
        found = await self._database.read(lambda db: db.execute(_CONTEXTS, (owner, *after, limit)).fetchall())
        return [ContextRow(*row) for row in found]

    async def delete(self, task_id: str, owner: str) -> None:
        """Delete a task."""
        await self._database.write(lambda db: _delete(db, task_id, owner))


def _claim(db: sqlite3.Connection, task_id: str, owner: str) -> Stored:
    stored = _look(db, task_id)
    if stored is not None and stored.owner != owner:
        raise WriteRefused(Refusal.OWNER)
    if stored is None or stored.row is None:
        db.execute("DELETE FROM task_events WHERE task_id = ?", (task_id,))
    db.execute("INSERT OR REPLACE INTO task_attempts (task_id, owner) VALUES (?, ?)", (task_id, owner))
    claimed = _look(db, task_id)
    assert claimed is not None
    return claimed


_FENCE = """
SELECT owner, attempt, (SELECT state FROM tasks WHERE id = ?1),
    (SELECT max(sequence) FROM task_events WHERE task_id = ?1)
FROM task_attempts WHERE task_id = ?1
"""


def _append(db: sqlite3.Connection, write: Write) -> None:
    found = db.execute(_FENCE, (write.task_id,)).fetchone()
    check_write(_bare(write.task_id, *found) if found else None, write)
    db.executemany(
        "INSERT INTO task_events (task_id, sequence, kind, body) VALUES (?, ?, ?, ?)",
        [(write.task_id, record.sequence, record.kind, record.body) for record in write.records],
    )
    if (row := write.row) is not None:
        db.execute(
            f"INSERT OR REPLACE INTO tasks ({_ROW}) VALUES (?, ?, ?, ?, ?, ?, ?)",  # noqa: S608
            (row.id, row.owner, row.context_id, row.state, row.updated, row.body, row.sequence),
        )


def _bare(task_id: str, owner: str, attempt: int, state: int | None, last: int | None) -> Stored:
    """What the fence looks at: a row without its body."""
    row = Row(task_id, owner, "", state, 0, b"", 0) if state is not None else None
    return Stored(owner, attempt, last or 0, row)


def _look(db: sqlite3.Connection, task_id: str) -> Stored | None:
    claimed = db.execute("SELECT owner, attempt FROM task_attempts WHERE task_id = ?", (task_id,)).fetchone()
    found = db.execute(f"SELECT {_ROW} FROM tasks WHERE id = ?", (task_id,)).fetchone()  # noqa: S608
    row = Row(*found) if found else None
    if row is None and claimed is None:
        return None
    owner, attempt = claimed or (row.owner if row else "", 0)
    if row is not None and row.state in TERMINAL:
        return Stored(owner, attempt, row.sequence, row)
    (last,) = db.execute("SELECT max(sequence) FROM task_events WHERE task_id = ?", (task_id,)).fetchone()
    behind = row is not None and row.sequence < (last or 0)
    changes = _select(db, task_id, row.sequence, CHANGES) if row is not None and behind else ()
    return Stored(owner, attempt, last or 0, row, tuple(changes))


def _select(
    db: sqlite3.Connection, task_id: str, after: int, kinds: Iterable[RecordKind] | None, limit: int = -1
) -> Iterable[Record]:
    some = f" AND kind IN ({_numbers(kinds)})" if kinds is not None else ""
    sql = (
        f"SELECT sequence, kind, body FROM task_events WHERE task_id = ? AND sequence > ?{some}"  # noqa: S608
        " ORDER BY sequence LIMIT ?"
    )
    for sequence, kind, body in db.execute(sql, (task_id, after, limit)):
        yield Record(sequence, RecordKind(kind), body)


def _events(
    db: sqlite3.Connection, task_id: str, after: int, limit: int, kinds: frozenset[RecordKind] | None
) -> list[Record]:
    found: list[Record] = []
    size = 0
    for record in _select(db, task_id, after, kinds, limit):
        found.append(record)
        size += len(record.body)
        if size >= BATCH_BYTES:
            break
    return found


def _numbers(values: Iterable[int]) -> str:
    return ", ".join(str(int(value)) for value in sorted(values))


_BOUNDED = """
SELECT id, owner, context_id, state, updated,
    CASE WHEN before < ? THEN (SELECT body FROM tasks WHERE id = listed.id) ELSE ? END, sequence
FROM (
    SELECT *, coalesce(sum(size) OVER (
        ORDER BY updated DESC, id DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ), 0) AS before
    FROM ({page})
) AS listed ORDER BY updated DESC, id DESC
"""
"""The rows of a page with their bodies as far as these are read. The length of a body is known without reading it."""


def _page(db: sqlite3.Connection, query: Query) -> tuple[list[Row], int]:
    columns = "id, owner, context_id, state, updated, length(body) AS size, sequence"
    total, page, values = _page_sql(db, query, "tasks", columns)
    rows = db.execute(_BOUNDED.format(page=page), (BATCH_BYTES, LEFT_OUT, *values)).fetchall()
    return [Row(*row) for row in rows], total


def _page_by_indexes(db: sqlite3.Connection, query: Query) -> tuple[list[Row], int]:
    total, page, values = _page_sql(db, query, _LISTED, "id, owner, context_id, state, updated")
    found: list[Row] = []
    size = 0
    for task_id, owner, context_id, state, updated in db.execute(page, values).fetchall():
        left_out = Row(task_id, owner, context_id, state, updated, LEFT_OUT, 0)
        found.append(_row_or(replace(left_out, body=LOST), db) if size < BATCH_BYTES else left_out)
        size += len(found[-1].body)
    return found, total


_LISTED = """(
    SELECT id, owner, context_id, state, updated
    FROM (SELECT id, owner, context_id, updated FROM tasks INDEXED BY tasks_by_context)
    JOIN (SELECT id, state FROM tasks INDEXED BY tasks_by_state) USING (id)
)"""
"""What the indexes alone know of each task: they stand on other pages than the tasks."""


def _row_or(lost: Row, db: sqlite3.Connection) -> Row:
    """The complete row, or `lost` if its page is damaged."""
    try:
        found = db.execute(f"SELECT {_ROW} FROM tasks WHERE id = ?", (lost.id,)).fetchone()  # noqa: S608
    except sqlite3.DatabaseError as error:
        if not is_damage(error):
            raise
        found = None
    return Row(*found) if found else lost


def _page_sql(
    db: sqlite3.Connection, query: Query, source: str, columns: str
) -> tuple[int, str, tuple[Any, ...]]:
    """How many tasks match, and what selects those of the page: a statement and its values."""
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
    count = f"SELECT count(*) FROM {source} WHERE {' AND '.join(where)}"  # noqa: S608
    total = int(db.execute(count, values).fetchone()[0])
    if query.after is not None:
        where.append("(updated, id) < (?, ?)")
        values.extend(query.after)
    sql = (
        f"SELECT {columns} FROM {source} WHERE {' AND '.join(where)}"  # noqa: S608
        " ORDER BY updated DESC, id DESC LIMIT ?"
    )
    return total, sql, (*values, query.limit)


_ENDED = ", ".join(str(int(state)) for state in sorted(TERMINAL))

_IDLE = f"""
SELECT owner, context_id, json_group_array(id), max(updated) FROM tasks
GROUP BY owner, context_id HAVING max(updated) < ? AND min(state IN ({_ENDED})) >= ? ORDER BY max(updated) LIMIT ?
"""  # noqa: S608

_NEWEST = "SELECT coalesce(max(updated), 0) FROM tasks"
_COUNT = "SELECT count(*) FROM (SELECT DISTINCT owner, context_id FROM tasks)"

_CONTEXTS = """
SELECT context_id, max(updated), count(*) FROM tasks WHERE owner = ?
GROUP BY context_id HAVING (max(updated), context_id) < (?, ?)
ORDER BY max(updated) DESC, context_id DESC LIMIT ?
"""


def _idle(db: sqlite3.Connection, before: int, limit: int, *, ended: bool) -> list[IdleContext]:
    found = db.execute(_IDLE, (before, ended, limit)).fetchall()
    return [
        IdleContext(owner, context_id, tuple(sorted(json.loads(ids))), updated)
        for owner, context_id, ids, updated in found
    ]


def _delete(db: sqlite3.Connection, task_id: str, owner: str) -> None:
    stored = _look(db, task_id)
    if stored is None or stored.owner != owner:
        return
    for table, column in (("tasks", "id"), ("task_events", "task_id"), ("task_attempts", "task_id")):
        db.execute(f"DELETE FROM {table} WHERE {column} = ?", (task_id,))  # noqa: S608
