"""Titles that people gave to their conversations, in PostgreSQL."""

from __future__ import annotations

from utils.persistence.postgres.pool import PostgresPool

_GET = "SELECT title FROM titles WHERE owner = %s AND context_id = %s"
_PUT = """
INSERT INTO titles (owner, context_id, title) VALUES (%s, %s, %s)
ON CONFLICT (owner, context_id) DO UPDATE SET title = excluded.title
"""
_DELETE = "DELETE FROM titles WHERE owner = %s AND context_id = %s"


class PostgresTitles:
    """The table `titles` of an agent's schema."""

    def __init__(self, pool: PostgresPool) -> None:
        self._pool = pool

    async def open(self) -> None:
        """Nothing to open: the pool is the process's."""

    async def close(self) -> None:
        """Nothing to close."""

    async def get(self, owner: str, context_id: str) -> str:
        """The title of a conversation."""
        row = await self._pool.one(_GET, (owner, context_id))
        return str(row[0]) if row is not None else ""

    async def put(self, owner: str, context_id: str, title: str) -> None:
        """Give a conversation a title."""
        if title:
            await self._pool.execute(_PUT, (owner, context_id, title))
        else:
            await self._pool.execute(_DELETE, (owner, context_id))
