"""Whether the database answers, for the readiness of an agent."""

from __future__ import annotations

import asyncio
import time

from utils.errors import StorageError
from utils.persistence.postgres.pool import PostgresPool

FRESH_SECONDS = 2.0
"""How long an answer counts, so that frequent probes cost nothing."""

WAIT_SECONDS = 0.5
"""Timeout of a probe; Kubernetes gives up on a readiness probe after one second."""


class PoolProbe:
    """Asks the database; however often it is called, one question is under way at a time.

    Args:
        pool: The connections.
    """

    def __init__(self, pool: PostgresPool) -> None:
        self._pool = pool
        self._running: asyncio.Task[None] | None = None
        self._works = True
        self._asked = 0.0

    async def succeeds(self) -> bool:
        """Whether it answered; not, while an answer takes longer than `WAIT_SECONDS`."""
        if self._running is None and time.monotonic() - self._asked > FRESH_SECONDS:
            self._running = asyncio.create_task(self._ask())
        if self._running is not None:
            await asyncio.wait([self._running], timeout=WAIT_SECONDS)
        return self._works and self._running is None

    async def _ask(self) -> None:
        try:
            async with self._pool.connection() as connection:
                await connection.execute("SELECT 1")
            self._works = True
        except StorageError:
            self._works = False
        finally:
            self._asked = time.monotonic()
            self._running = None
