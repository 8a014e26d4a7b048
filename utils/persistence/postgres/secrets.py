"""Random secrets that the replicas of an agent share, in its schema of PostgreSQL."""

from __future__ import annotations

import secrets
from typing import Any

from utils.persistence.postgres.pool import Connection, PostgresPool

SECRET_BYTES = 32

_MAKE = "INSERT INTO secrets (name, value) VALUES (%s, %s) ON CONFLICT (name) DO NOTHING"
_READ = "SELECT value FROM secrets WHERE name = %s"
_REPLACE = """
INSERT INTO secrets (name, value) VALUES (%s, %s) ON CONFLICT (name) DO UPDATE SET value = excluded.value
"""


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


async def known_secret(pool: PostgresPool, name: str) -> bytes | None:
    """The secret of a name; `None` if there is none.

    Raises:
        StorageError: The database failed.
    """
    row = await pool.one(_READ, (name,))
    return None if row is None else bytes(row[0])


async def replace_secret(pool: PostgresPool, name: str, value: bytes) -> None:
    """Store a secret in the place of that of the same name.

    Raises:
        StorageError: The database failed.
    """
    await pool.execute(_REPLACE, (name, value))
