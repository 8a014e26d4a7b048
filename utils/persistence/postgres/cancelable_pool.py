"""The driver's pool, of which both the data and the queue of an agent have one."""

from __future__ import annotations

import asyncio
from typing import Any

import psycopg
from psycopg import AsyncConnection
from psycopg_pool import AsyncConnectionPool

from utils.cancellation import Cancellation
from utils.persistence.postgres.answering import AnsweringConnection

_Connection = AsyncConnection[tuple[Any, ...]]


class CancelablePool(AsyncConnectionPool[_Connection]):
    """The driver's pool, except that a task that is canceled while it waits for a connection gets none.

    A connection that took no write is not used again: after a fail-over it leads to the server that was demoted.
    """

    async def getconn(self, timeout: float | None = None) -> _Connection:  # noqa: ASYNC109 - the driver's own
        """A connection, which is given back by `putconn`.

        Raises:
            psycopg_pool.PoolTimeout: There was none in time.
        """
        cancellation = Cancellation()
        try:
            connection = await super().getconn(timeout)
        except psycopg.Error:
            cancellation.check()
            raise
        try:
            cancellation.check()
        except asyncio.CancelledError:
            await self.putconn(connection)
            raise
        return connection

    async def putconn(self, conn: _Connection) -> None:
        """Give a connection back."""
        if isinstance(conn, AnsweringConnection) and conn.refused_write:
            await conn.close()
        await super().putconn(conn)
