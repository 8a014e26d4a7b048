"""Task logs in PostgreSQL: the tables of `task_log_sqlite`, which several processes write and read.

The row of a task in `task_attempts` is locked while something is appended, so that a claim and an append never overlap.
Processes that follow a task are notified with the commit (`CHANNEL`).
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable, Sequence
from typing import Any

from psycopg import sql

from utils.persistence.postgres.clock import DatabaseClock
from utils.persistence.postgres.pool import Connection, PostgresPool
from utils.persistence.postgres.probe import PoolProbe
from utils.persistence.task_log_store import (
    BATCH_BYTES,
    CHANGES,
    LEFT_OUT,
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

_ZERO = "\x00"
"""A character that no stored ID has, since PostgreSQL cannot store it in text."""

CHANNEL = "tasks"
"""Notified with a task's id when events of it are stored, or another attempt claims it."""

_LOOK = """
SELECT a.owner, a.attempt, t.owner, t.context_id, t.state, t.updated, t.body, t.sequence,
    (SELECT max(sequence) FROM task_events WHERE task_id = %(id)s)
FROM (SELECT %(id)s AS id) AS asked
LEFT JOIN task_attempts AS a ON a.task_id = asked.id
LEFT JOIN tasks AS t ON t.id = asked.id
"""
_LOCK = "SELECT owner, attempt FROM task_attempts WHERE task_id = %s FOR UPDATE"
_FENCE = "SELECT (SELECT state FROM tasks WHERE id = %(id)s), (SELECT max(sequence) FROM task_events WHERE task_id = %(id)s)"
_CLAIM = """
INSERT INTO task_attempts (task_id, owner) VALUES (%s, %s)
ON CONFLICT (task_id) DO UPDATE SET attempt = excluded.attempt WHERE task_attempts.owner = excluded.owner
RETURNING extract(epoch FROM clock_timestamp())::double precision
"""
_FORGET_EVENTS = (
    "DELETE FROM task_events WHERE task_id = %(id)s AND NOT EXISTS (SELECT 1 FROM tasks WHERE id = %(id)s)"
)
_APPEND = """
INSERT INTO task_events (task_id, sequence, kind, body)
SELECT %s, sequence, kind, body FROM unnest(%s::bigint[], %s::smallint[], %s::bytea[]) AS new (sequence, kind, body)
"""
_PUT = """
INSERT INTO tasks (id, owner, context_id, state, updated, body, sequence) VALUES (%s, %s, %s, %s, %s, %s, %s)
ON CONFLICT (id) DO UPDATE SET owner = excluded.owner, context_id = excluded.context_id, state = excluded.state,
    updated = excluded.updated, body = excluded.body, sequence = excluded.sequence
"""
_ROW = "id, owner, context_id, state, updated, body, sequence"
_EVENTS = """
SELECT sequence, kind, body FROM (
    SELECT *, coalesce(sum(octet_length(body)) OVER (
        ORDER BY sequence ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ), 0) AS before
    FROM (
        SELECT sequence, kind, body FROM task_events
        WHERE task_id = %(id)s AND sequence > %(after)s AND (%(kinds)s::smallint[] IS NULL OR kind = ANY(%(kinds)s))
        ORDER BY sequence LIMIT %(limit)s
    ) AS next
) AS sized WHERE %(bytes)s::bigint IS NULL OR before < %(bytes)s ORDER BY sequence
"""
_PAGE = """
SELECT id, owner, context_id, state, updated, CASE WHEN before < {bytes} THEN body END, sequence FROM (
    SELECT *, coalesce(sum(octet_length(body)) OVER (
        ORDER BY updated DESC, id DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ), 0) AS before
    FROM (SELECT * FROM tasks WHERE {where} ORDER BY updated DESC, id DESC LIMIT %s) AS next
) AS sized ORDER BY updated DESC, id DESC
"""
"""The rows of a page with their bodies as far as these are read. The length of a body is known without reading it."""
_UNFINISHED = f"SELECT {_ROW} FROM tasks WHERE state = ANY(%s) ORDER BY updated, id"  # noqa: S608 - constant names
_ENDED = [int(state) for state in sorted(TERMINAL)]
_IDLE = """
SELECT owner, context_id, array_agg(id ORDER BY id), max(updated) FROM tasks
GROUP BY owner, context_id HAVING max(updated) < %s AND (bool_and(state = ANY(%s)) OR NOT %s)
ORDER BY max(updated) LIMIT %s
"""
_TIMES = """
SELECT coalesce(max(updated), 0), (extract(epoch FROM clock_timestamp()) * 1000000000)::bigint FROM tasks
"""
_COUNT = "SELECT count(*) FROM (SELECT DISTINCT owner, context_id FROM tasks) AS conversations"
_CONTEXTS = """
SELECT context_id, max(updated), count(*) FROM tasks WHERE owner = %s
GROUP BY context_id HAVING (max(updated), context_id) < (%s::bigint, %s::text)
ORDER BY max(updated) DESC, context_id DESC LIMIT %s
"""
_DELETE = (
    "DELETE FROM tasks WHERE id = %s",
    "DELETE FROM task_events WHERE task_id = %s",
    "DELETE FROM task_attempts WHERE task_id = %s",
)


class PostgresTaskLogStore(TaskLogStore):
    """The tables `tasks`, `task_events` and `task_attempts` of an agent's schema."""

    def __init__(self, pool: PostgresPool) -> None:
        self._pool = pool
        self._probe = PoolProbe(pool)
        self._clock = DatabaseClock()

    async def open(self) -> None:
        """Nothing to open: the pool is the process's."""

    async def close(self) -> None:
        """Nothing to close."""

    async def not_written(self) -> str:
        """Why the database cannot be written; nothing if it can."""
        return await self._probe.problem()

    def now(self) -> float:
        """The time by the database's clock, as reported with the latest claim."""
        return self._clock.now()

    async def claim(self, task_id: str, owner: str) -> Stored:
        """Begin the next attempt."""

        async def claim(db: Connection) -> Stored:
            queried_at = self._clock.own()
            begun = await (await db.execute(_CLAIM, (task_id, owner))).fetchone()
            if begun is None:
                raise WriteRefused(Refusal.OWNER)
            self._clock.note(begun[0], queried_at)
            await db.execute(_FORGET_EVENTS, {"id": task_id})
            await self._pool.notify(db, CHANNEL, task_id)
            claimed = await _look(db, task_id)
            assert claimed is not None
            return claimed

        return await self._pool.run(claim)

    async def append(self, write: Write) -> None:
        """Store a write. It is not repeated: after a lost connection it may be stored, which `look` shows."""
        async with self._pool.transaction() as db:
            check_write(await _fence(db, write), write)
            async with db.pipeline():
                if write.records:
                    await db.execute(_APPEND, (write.task_id, *_columns(write.records)))
                if (row := write.row) is not None:
                    values = (
                        row.id,
                        row.owner,
                        row.context_id,
                        row.state,
                        row.updated,
                        row.body,
                        row.sequence,
                    )
                    await db.execute(_PUT, values)
                await self._pool.notify(db, CHANNEL, write.task_id)

    async def look(self, task_id: str, owner: str) -> Stored | None:
        """The stored task."""
        if _ZERO in task_id:
            return None
        stored = await self._pool.run(lambda db: _look(db, task_id))
        return stored if stored is not None and stored.owner == owner else None

    async def events(
        self, task_id: str, *, after: int, limit: int, kinds: frozenset[RecordKind] | None = None
    ) -> list[Record]:
        """The next events."""
        return await self._pool.run(lambda db: _events(db, task_id, after, limit, kinds))

    async def page(self, query: Query) -> tuple[list[Row], int]:
        """Rows of one page."""
        if _ZERO in query.context_id:
            return [], 0
        return await self._pool.run(lambda db: _page(db, query))

    async def unfinished(self, states: Sequence[int]) -> list[Row]:
        """Rows in one of `states`."""

        async def read(db: Connection) -> list[Row]:
            found = await db.execute(_UNFINISHED, ([int(state) for state in states],))
            return [_row(row) for row in await found.fetchall()]

        return await self._pool.run(read)

    async def idle(self, before: int, limit: int, *, ended: bool = False) -> list[IdleContext]:
        """Conversations without recent turns."""

        async def read(db: Connection) -> list[IdleContext]:
            rows: list[Any] = await (await db.execute(_IDLE, (before, _ENDED, ended, limit))).fetchall()
            return [
                IdleContext(owner, context_id, tuple(ids), updated)
                for owner, context_id, ids, updated in rows
            ]

        return await self._pool.run(read)

    async def times(self) -> StoredTimes:
        """When the newest task changed, and the time by the database's clock."""

        async def read(db: Connection) -> StoredTimes:
            (newest, now) = await (await db.execute(_TIMES)).fetchone() or (0, None)
            return StoredTimes(newest, now)

        return await self._pool.run(read)

    async def count_contexts(self) -> int:
        """All conversations."""

        async def read(db: Connection) -> int:
            (number,) = await (await db.execute(_COUNT)).fetchone() or (0,)
            return int(number)

        return await self._pool.run(read)

    async def contexts(self, owner: str, after: tuple[int, str], limit: int) -> list[ContextRow]:
        """Conversations of an owner."""

        async def read(db: Connection) -> list[ContextRow]:
            rows: list[Any] = await (await db.execute(_CONTEXTS, (owner, *after, limit))).fetchall()
            return [ContextRow(*row) for row in rows]

        return await self._pool.run(read)

    async def delete(self, task_id: str, owner: str) -> None:
        """Delete a task."""

        async def delete(db: Connection) -> None:
            await db.execute(_LOCK, (task_id,))
            stored = await _look(db, task_id)
            if stored is not None and stored.owner == owner:
                for statement in _DELETE:
                    await db.execute(statement, (task_id,))

        await self._pool.run(delete)

    def changes(self) -> AsyncGenerator[str, None]:
        """The ids of tasks that any replica writes."""
        return self._pool.listen(CHANNEL)


async def _fence(db: Connection, write: Write) -> Stored | None:
    """The data for `check_write`, with the task locked: a row without its body."""
    locked: Any = await (await db.execute(_LOCK, (write.task_id,))).fetchone()
    if locked is None:
        return None
    owner, attempt = locked
    # a separate statement: it sees what was stored while the first one waited for the lock
    state, last = await _one(db, _FENCE, {"id": write.task_id})
    row = Row(write.task_id, owner, "", state, 0, b"", 0) if state is not None else None
    return Stored(owner, attempt, last or 0, row)


async def _look(db: Connection, task_id: str) -> Stored | None:
    found = await _one(db, _LOOK, {"id": task_id})
    owner, attempt, *columns, last = found
    row = _row((task_id, *columns)) if columns[0] is not None else None
    if row is None and owner is None:
        return None
    owner, attempt = (owner, attempt) if owner is not None else (row.owner if row else "", 0)
    if row is not None and row.state in TERMINAL:
        return Stored(owner, attempt, row.sequence, row)
    behind = row is not None and row.sequence < (last or 0)
    changes = (
        await _events(db, task_id, row.sequence, None, CHANGES, unlimited=True)
        if row is not None and behind
        else []
    )
    return Stored(owner, attempt, last or 0, row, tuple(changes))


async def _events(
    db: Connection,
    task_id: str,
    after: int,
    limit: int | None,
    kinds: Iterable[RecordKind] | None,
    *,
    unlimited: bool = False,
) -> list[Record]:
    """Events past `after`; not many more than `BATCH_BYTES`, unless `unlimited`."""
    some = sorted(int(kind) for kind in kinds) if kinds is not None else None
    most = None if unlimited else BATCH_BYTES
    values = {"id": task_id, "after": after, "kinds": some, "limit": limit, "bytes": most}
    rows: list[Any] = await (await db.execute(_EVENTS, values, binary=True)).fetchall()
    return [Record(sequence, RecordKind(kind), bytes(body)) for sequence, kind, body in rows]


async def _page(db: Connection, query: Query) -> tuple[list[Row], int]:
    where = [sql.SQL("owner = %s")]
    values: list[Any] = [query.owner]
    optional = (
        ("context_id = %s", query.context_id or None),
        ("state = %s", query.state or None),
        ("updated >= %s", query.updated_from),
    )
    for clause, value in optional:
        if value is not None:
            where.append(sql.SQL(clause))
            values.append(value)
    count = sql.SQL("SELECT count(*) FROM tasks WHERE {}").format(sql.SQL(" AND ").join(where))
    (total,) = await _one(db, count, values)
    if query.after is not None:
        where.append(sql.SQL("(updated, id) < (%s, %s)"))
        values.extend(query.after)
    rows = sql.SQL(_PAGE).format(bytes=BATCH_BYTES, where=sql.SQL(" AND ").join(where))
    found = await db.execute(rows, [*values, query.limit])
    return [_row(row) for row in await found.fetchall()], int(total)


async def _one(db: Connection, query: Any, values: Any) -> Any:
    row = await (await db.execute(query, values)).fetchone()
    assert row is not None
    return row


def _row(columns: Sequence[Any]) -> Row:
    task_id, owner, context_id, state, updated, body, sequence = columns
    content = LEFT_OUT if body is None else bytes(body)
    return Row(task_id, owner, context_id, state, updated, content, sequence)


def _columns(records: Sequence[Record]) -> tuple[list[int], list[int], list[bytes]]:
    return (
        [record.sequence for record in records],
        [int(record.kind) for record in records],
        [record.body for record in records],
    )
