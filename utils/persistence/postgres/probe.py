"""Whether the database takes what is written, for the readiness of an agent."""

from __future__ import annotations

import asyncio
import time

from utils.errors import StorageError
from utils.persistence.postgres.pool import PostgresPool
from utils.persistence.postgres.startup import READ_ONLY_QUERY

FRESH_SECONDS = 2.0
"""How long an answer counts, so that frequent probes cost nothing."""

WAIT_SECONDS = 0.5
"""Timeout of a probe; Kubernetes gives up on a readiness probe after one second."""


AWAY = (
    "Tasks cannot be stored: the PostgreSQL database at DATABASE_URL does not let this process in. See that it runs and can be "
    "reached from here, and that the password was not changed; this process goes on by itself then. The log has the details."
)
READ_ONLY = (
    "Tasks cannot be stored: the PostgreSQL database at DATABASE_URL can only be read, as a standby is, or a full one of some "
    "providers. This process goes on by itself when it can be written again."
)
"""What an operator is told. The address is not quoted: it may hold a name or a password."""


class PoolProbe:
    """Asks the database whether it can be written; however often it is called, one question is under way at a time.

    Args:
        pool: The connections.
    """

    def __init__(self, pool: PostgresPool) -> None:
        self._pool = pool
        self._running: asyncio.Task[None] | None = None
        self._problem = ""
        self._asked = 0.0

    async def problem(self) -> str:
        """What keeps it from being written; that it does not answer, while an answer takes longer than `WAIT_SECONDS`."""
        if self._running is None and time.monotonic() - self._asked > FRESH_SECONDS:
            self._running = asyncio.create_task(self._ask())
        if self._running is not None:
            await asyncio.wait([self._running], timeout=WAIT_SECONDS)
        return AWAY if self._running is not None else self._problem

    async def _ask(self) -> None:
        try:
            async with self._pool.connection() as connection:
                row = await (await connection.execute(READ_ONLY_QUERY)).fetchone()
            self._problem = READ_ONLY if row is not None and row[0] else ""
        except StorageError:
            self._problem = AWAY
        finally:
            self._asked = time.monotonic()
            self._running = None
