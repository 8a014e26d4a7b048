"""Random secrets that the replicas of an agent share, in its schema of PostgreSQL."""

from __future__ import annotations

import secrets
from typing import Any

from utils.persistence.postgres.pool import Connection, PostgresPool

SECRET_BYTES = 32

_MAKE = "INSERT INTO secrets (name, value) VALUES (%s, %s) ON CONFLICT (name) DO NOTHING"
_READ = "SELECT value FROM secrets WHERE name = %s"


async def shared_secret(pool: PostgresPool, name: str) -> bytes:
    """The secret of a name, made at the first use. Where several replicas make it at once, all get the same one.

    Raises:
        StorageError: The database failed.
    """

    async def work(db: Connection) -> bytes:
        await db.execute(_MAKE, (name, secrets.token_bytes(SECRET_BYTES)))
        row: Any = await (await db.execute(_READ, (name,))).fetchone()
        return bytes(row[0])

    return await pool.run(work)
