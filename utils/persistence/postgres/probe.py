"""Whether the database can be written, for the readiness of an agent."""

from __future__ import annotations

import asyncio
import time

from utils.errors import StorageError
from utils.persistence.postgres.pool import Connection, PostgresPool
from utils.persistence.postgres.startup import READ_ONLY_QUERY

FRESH_SECONDS = 2.0
"""How long a result is reused, so that frequent probes cost nothing."""

FULL_SECONDS = 30.0
"""How long a write counts for which there was no room; three periods of a Kubernetes readiness probe. The check itself writes nothing."""

WAIT_SECONDS = 0.5
"""Timeout of a probe; Kubernetes gives up on a readiness probe after one second."""


AWAY = (
    "Tasks cannot be stored: the PostgreSQL database at DATABASE_URL does not let this process in. See that it runs and can be "
    "reached from here: this process goes on by itself then. If its password was changed, put the new one into DATABASE_URL and "
    "start this process again. The log has the details."
)
LATE = (
    "Tasks may not be stored: the PostgreSQL database at DATABASE_URL has not answered in time, or this process is too busy to ask "
    "it. If this lasts, the next answer here says why."
)
SILENT = (
    "Tasks cannot be stored: the PostgreSQL database at DATABASE_URL takes connections, but answers nothing, as a server that hangs or "
    "whose disk does. See to its machine; this process goes on by itself when it answers again."
)
READ_ONLY = (
    "Tasks cannot be stored: the PostgreSQL database at DATABASE_URL can only be read, as a standby is, or a full one of some "
    "providers. This process goes on by itself when it can be written again."
)
HELD = (
    "Tasks cannot be stored: somebody holds a lock on a table of this agent in the PostgreSQL database at DATABASE_URL, as an "
    "ALTER TABLE or a transaction that was left open does. End it; pg_locks tells who it is. This process goes on by itself then."
)
FULL = (
    "Tasks cannot be stored: the disk of the PostgreSQL database at DATABASE_URL is full, or was less than a minute ago. Free some "
    "space there; this process goes on by itself then."
)
"""Messages for an operator. The address is not quoted: it may contain a name or a password."""


_HELD_QUERY = """
SELECT EXISTS (
    SELECT FROM pg_locks JOIN pg_class ON pg_class.oid = pg_locks.relation
    WHERE pg_locks.database = (SELECT oid FROM pg_database WHERE datname = current_database())
        AND pg_class.relnamespace = to_regnamespace(quote_ident(%s)) AND pg_class.relkind IN ('r', 'p') AND pg_locks.granted
        AND pg_locks.mode IN ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
)
"""
"""Whether a lock prevents writes to a table of a schema. The query itself waits for no lock."""


class PoolProbe:
    """Checks whether the database can be written; however often it is called, one check runs at a time.

    Args:
        pool: The connections.
    """

    def __init__(self, pool: PostgresPool) -> None:
        self._pool = pool
        self._running: asyncio.Task[None] | None = None
        self._problem = ""
        self._asked = 0.0
        self._away = LATE
        self._looking: asyncio.Task[None] | None = None

    async def problem(self) -> str:
        """Why it cannot be written; after `WAIT_SECONDS` without a response, that it does not respond."""
        if self._running is None and time.monotonic() - self._asked > FRESH_SECONDS:
            self._running = asyncio.create_task(self._ask())
        if self._running is not None:
            await asyncio.wait([self._running], timeout=WAIT_SECONDS)
        if self._running is None:
            return self._problem
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._look())
        return self._away

    async def _look(self) -> None:
        """Find out why there is no response: the connections of the pool do not show that."""
        self._away = SILENT if await self._pool.is_silent() else AWAY

    async def _ask(self) -> None:
        try:
            async with self._pool.connection() as connection:
                if await _holds(connection, READ_ONLY_QUERY):
                    self._problem = READ_ONLY
                elif await _holds(connection, _HELD_QUERY, self._pool.schema):
                    self._problem = HELD
                else:
                    full = time.monotonic() - self._pool.full_at < FULL_SECONDS
                    self._problem = FULL if full else ""
            self._away = LATE
        except StorageError:
            await self._look()
            self._problem = self._away
        finally:
            self._asked = time.monotonic()
            self._running = None


async def _holds(connection: Connection, query: str, *values: str) -> bool:
    row = await (await connection.execute(query.encode(), values)).fetchone()
    return row is not None and bool(row[0])
