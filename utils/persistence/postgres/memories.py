"""Memories about users, in PostgreSQL."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from utils.persistence.memories import MemoryRow
from utils.persistence.postgres.pool import Connection, PostgresPool

_PUT = """
INSERT INTO memories (owner, kind, id, body, created, updated) VALUES (%s, %s, %s, %s, %s, %s)
ON CONFLICT (owner, kind, id) DO UPDATE SET body = excluded.body, updated = excluded.updated
"""
_PUT_SOURCE = (
    "INSERT INTO memory_sources (thread_id, owner, kind, id) VALUES (%s, %s, %s, %s) ON CONFLICT DO NOTHING"
)
_GET = "SELECT kind, id, body, created, updated FROM memories WHERE owner = %s AND kind = %s AND id = %s"
_ALL = "SELECT kind, id, body, created, updated FROM memories WHERE owner = %s ORDER BY created, kind, id"
_OWNERS = "SELECT DISTINCT owner, kind FROM memories ORDER BY owner, kind"
_REMOVE = (
    "DELETE FROM memory_sources WHERE owner = %s AND kind = %s AND id = %s",
    "DELETE FROM memories WHERE owner = %s AND kind = %s AND id = %s",
)
_LOCK = "SELECT id FROM memories WHERE owner = %s AND kind = %s AND id = ANY(%s) ORDER BY id FOR UPDATE"
_JOIN = """
INSERT INTO memory_sources (thread_id, owner, kind, id)
SELECT thread_id, owner, kind, %s FROM memory_sources WHERE owner = %s AND kind = %s AND id = %s ON CONFLICT DO NOTHING
"""
_ITS = "s.owner = memories.owner AND s.kind = memories.kind AND s.id = memories.id"
_REMOVE_LEARNT = f"""
DELETE FROM memories WHERE EXISTS (SELECT 1 FROM memory_sources AS s WHERE s.thread_id = %s AND {_ITS})
AND NOT EXISTS (SELECT 1 FROM memory_sources AS s WHERE s.thread_id <> %s AND {_ITS})
"""  # noqa: S608 - our own names
_REMOVE_SOURCE = "DELETE FROM memory_sources WHERE thread_id = %s"


class PostgresMemories:
    """The tables `memories` and `memory_sources` of an agent's schema."""

    def __init__(self, pool: PostgresPool) -> None:
        self._pool = pool

    async def open(self) -> None:
        """Nothing to open: the pool is the process's."""

    async def close(self) -> None:
        """Nothing to close."""

    async def put(self, row: MemoryRow, sources: Sequence[str]) -> None:
        """Insert or replace a memory."""

        async def put(db: Connection) -> None:
            await db.execute(_PUT, (row.owner, row.kind, row.id, row.body, row.created, row.updated))
            for source in sources:
                await db.execute(_PUT_SOURCE, (source, row.owner, row.kind, row.id))

        await self._pool.run(put)

    async def get(self, owner: str, kind: str, memory_id: str) -> MemoryRow | None:
        """One memory."""
        row = await self._pool.one(_GET, (owner, kind, memory_id))
        return None if row is None else _row(owner, row)

    async def all_of(self, owner: str) -> list[MemoryRow]:
        """All memories of an owner, oldest first."""

        async def read(db: Connection) -> list[Any]:
            return await (await db.execute(_ALL, (owner,))).fetchall()

        return [_row(owner, row) for row in await self._pool.run(read)]

    async def owners(self) -> list[tuple[str, str]]:
        """Every owner with each kind of memory that it has."""

        async def read(db: Connection) -> list[Any]:
            return await (await db.execute(_OWNERS)).fetchall()

        return [(str(owner), str(kind)) for owner, kind in await self._pool.run(read)]

    async def remove(self, owner: str, kind: str, memory_id: str) -> None:
        """Delete one memory."""

        async def remove(db: Connection) -> None:
            for statement in _REMOVE:
                await db.execute(statement.encode(), (owner, kind, memory_id))

        await self._pool.run(remove)

    async def join(self, owner: str, kind: str, kept: str, others: Sequence[str]) -> None:
        """Make one memory of several. All are locked first: another process may be about to join the kept one to a third."""

        async def join(db: Connection) -> None:
            found = await (await db.execute(_LOCK, (owner, kind, [kept, *others]))).fetchall()
            if (kept,) not in found:
                return
            for other in others:
                await db.execute(_JOIN, (kept, owner, kind, other))
                for statement in _REMOVE:
                    await db.execute(statement.encode(), (owner, kind, other))

        await self._pool.run(join)

    async def remove_learnt(self, thread_id: str) -> int:
        """Delete the memories that come from this conversation alone."""

        async def remove(db: Connection) -> int:
            removed = (await db.execute(_REMOVE_LEARNT.encode(), (thread_id, thread_id))).rowcount
            await db.execute(_REMOVE_SOURCE, (thread_id,))
            return removed

        return await self._pool.run(remove)


def _row(owner: str, row: tuple[Any, ...]) -> MemoryRow:
    kind, memory_id, body, created, updated = row
    return MemoryRow(owner, str(kind), str(memory_id), bytes(body), float(created), float(updated))
