"""The turns that were accepted and have not ended, in PostgreSQL."""

from __future__ import annotations

from typing import Any

from utils.persistence.postgres.pool import Connection, PostgresPool
from utils.persistence.runs import RunRow, RunStore, UnderWay

_PUT = """
INSERT INTO runs (task_id, conversation, owner, body, writer, attempts) VALUES (%s, %s, %s, %s, %s, %s)
ON CONFLICT (task_id) DO UPDATE SET number = excluded.number, conversation = excluded.conversation,
    owner = excluded.owner, body = excluded.body, writer = excluded.writer, attempts = excluded.attempts
WHERE runs.writer <= excluded.writer
"""
_TAKE = "UPDATE runs SET writer = %s, attempts = %s WHERE task_id = %s AND writer <= %s"
_REMOVE = "DELETE FROM runs WHERE task_id = %s AND writer <= %s"
_ROWS = "SELECT task_id, conversation, owner, body, writer, attempts FROM runs ORDER BY number"
_UNDER_WAY = "SELECT count(*), coalesce(sum(length(body)), 0) FROM runs WHERE owner = %s"
_ROW = "SELECT task_id, conversation, owner, body, writer, attempts FROM runs WHERE task_id = %s"


class PostgresRuns(RunStore):
    """The table `runs` of an agent's schema."""

    def __init__(self, pool: PostgresPool) -> None:
        self._pool = pool

    async def open(self) -> None:
        """Nothing to open: the pool is the process's."""

    async def close(self) -> None:
        """Nothing to close."""

    async def put(self, row: RunRow) -> None:
        """Add a turn behind the others."""
        values = (row.task_id, row.conversation, row.owner, row.body, row.writer, row.attempts)
        await self._pool.execute(_PUT, values)

    async def take(self, task_id: str, *, writer: int, attempts: int) -> None:
        """Record which process works on a turn."""
        await self._pool.execute(_TAKE, (writer, attempts, task_id, writer))

    async def remove(self, task_id: str, *, writer: int) -> None:
        """Remove an ended turn, unless a newer writer holds its row."""
        await self._pool.execute(_REMOVE, (task_id, writer))

    async def row(self, task_id: str) -> RunRow | None:
        """That of one task."""

        async def read(db: Connection) -> RunRow | None:
            row: Any = await (await db.execute(_ROW, (task_id,))).fetchone()
            return RunRow(*row) if row else None

        return await self._pool.run(read)

    async def under_way(self, owner: str) -> UnderWay:
        """How many there are of an owner, and how large they are."""
        row = await self._pool.one(_UNDER_WAY, (owner,))
        return UnderWay(*map(int, row or (0, 0)))

    async def rows(self) -> list[RunRow]:
        """All of them, oldest first."""

        async def read(db: Connection) -> list[RunRow]:
            rows: list[Any] = await (await db.execute(_ROWS)).fetchall()
            return [RunRow(*row) for row in rows]

        return await self._pool.run(read)
