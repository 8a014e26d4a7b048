"""Locks that a process holds for a while, on one connection of its own; they end with it, however it ends."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

from utils.errors import StorageError
from utils.persistence.postgres.errors import storage_errors
from utils.persistence.postgres.pool import Connection, PostgresPool

LOOK_SECONDS = 1.0
"""Pause between two tries to have a lock that another process holds."""


class SessionLocks:
    """Any number of locks. Where the connection is lost, all are, and another process may have them."""

    def __init__(self, pool: PostgresPool) -> None:
        self._pool = pool
        self._connection: Connection | None = None
        self._opening = asyncio.Lock()

    @asynccontextmanager
    async def held(
        self, number: int, on_wait: Callable[[], Awaitable[None]] | None = None
    ) -> AsyncIterator[None]:
        """Hold a lock within the block. Waits for it, and for a database that is away.

        Args:
            number: The lock.
            on_wait: Awaited once where the lock is not to be had at once.
        """
        told = on_wait is None
        while not await self._took(number):
            if on_wait is not None and not told:
                told = True
                await on_wait()
            await asyncio.sleep(LOOK_SECONDS)  # PostgreSQL tells nobody that a lock is free
        try:
            yield
        finally:
            with suppress(StorageError):  # the lock went with its connection
                await self._ask("SELECT pg_advisory_unlock(%s)", number)

    async def _took(self, number: int) -> bool:
        with suppress(StorageError):
            return await self._ask("SELECT pg_try_advisory_lock(%s)", number)
        return False

    async def close(self) -> None:
        """Give up every lock. Safe to call twice."""
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.close()

    async def _ask(self, query: str, number: int) -> bool:
        async with self._opening:
            if self._connection is None or self._connection.closed:
                self._connection = await self._pool.connect()
            with storage_errors():
                cursor = await self._connection.execute(query.encode(), (number,))
                row = await cursor.fetchone()
        return bool(row and row[0])
