"""Texts that were evicted from model requests, by handle, in PostgreSQL."""

from __future__ import annotations

from collections.abc import Mapping

from utils.persistence.postgres.pool import Connection, PostgresPool

_PUT = "INSERT INTO artifacts (scope, handle, text) VALUES (%s, %s, %s) ON CONFLICT DO NOTHING"
_GET = "SELECT text FROM artifacts WHERE scope = %s AND handle = %s"
_DELETE = "DELETE FROM artifacts WHERE scope = %s"


class PostgresArtifactStore:
    """The table `artifacts` of an agent's schema."""

    def __init__(self, pool: PostgresPool) -> None:
        self._pool = pool

    async def put(self, scope: str, artifacts: Mapping[str, str]) -> None:
        """Store texts by handle. Storing the same text again changes nothing."""
        if not artifacts:
            return
        rows = [(scope, handle, text.encode("utf-8", "replace")) for handle, text in artifacts.items()]

        async def put(db: Connection) -> None:
            await db.cursor().executemany(_PUT, rows)

        await self._pool.run(put)

    async def get(self, scope: str, handle: str) -> str | None:
        """The text, or `None` if this scope has no such handle."""
        row = await self._pool.one(_GET, (scope, handle))
        return None if row is None else bytes(row[0]).decode("utf-8")

    async def delete_scope(self, scope: str) -> int:
        """Delete all texts of a conversation; return how many."""
        return await self._pool.execute(_DELETE, (scope,))
