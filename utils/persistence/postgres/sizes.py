"""How much room the tables of agents take."""

from __future__ import annotations

from typing import Any

from utils.persistence.postgres.names import schema_name
from utils.persistence.postgres.pool import Connection, PostgresPool

_SIZES = """
SELECT n.nspname, sum(pg_total_relation_size(c.oid))::bigint FROM pg_class AS c
JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE starts_with(n.nspname, %s) AND c.relkind = 'r' GROUP BY n.nspname ORDER BY n.nspname
"""


async def all_sizes(pool: PostgresPool) -> dict[str, int]:
    """Bytes of all tables of each agent in the database, with their indexes, by schema.

    Raises:
        StorageError: The database failed.
    """

    async def read(db: Connection) -> dict[str, int]:
        rows: list[Any] = await (await db.execute(_SIZES, (schema_name(""),))).fetchall()
        return {str(schema): int(size) for schema, size in rows}

    return await pool.run(read)


async def size_of(pool: PostgresPool) -> int:
    """Bytes of the agent's own tables.

    Raises:
        StorageError: The database failed.
    """
    return (await all_sizes(pool)).get(pool.schema, 0)
