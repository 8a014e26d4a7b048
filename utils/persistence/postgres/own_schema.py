"""The tables in the schema of an agent."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from utils.persistence.postgres.pool import PostgresPool


async def has_table(pool: PostgresPool, name: str) -> bool:
    """Whether an agent's schema has a table; it has none before its first start.

    Raises:
        StorageError: The database failed.
    """
    row = await pool.one(
        "SELECT 1 FROM pg_tables WHERE schemaname = %s AND tablename = %s", (pool.schema, name)
    )
    return row is not None
