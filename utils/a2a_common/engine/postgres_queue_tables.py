"""The tables of the queue in PostgreSQL. Import this module only where DATABASE_URL is set: it imports the driver."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, LiteralString

from procrastinate import PsycopgConnector
from psycopg import sql

from utils.a2a_common.engine.queue_tables import Counts
from utils.a2a_common.engine.resilient_jobs import COUNTS, loads_of
from utils.persistence.postgres.answering import AnsweringConnection
from utils.persistence.postgres.cancelable_pool import CancelablePool
from utils.persistence.postgres.pool import RECONNECT_SECONDS, Connection, PostgresPool
from utils.persistence.postgres.turn_hold import held_if_free


class QueuePool(CancelablePool):
    """The connections of a queue.

    Args:
        start_seconds: How long `open` waits for the first one: it is part of the start of a process.
    """

    def __init__(self, *args: Any, start_seconds: float, **options: Any) -> None:
        super().__init__(*args, **options)
        self._start_seconds = start_seconds

    async def open(self, wait: bool = False, timeout: float | None = None) -> None:  # noqa: ASYNC109 - the driver's own
        """Connect.

        Raises:
            psycopg_pool.PoolTimeout: There was no connection in time.
        """
        await super().open(wait, timeout=self._start_seconds if timeout is None else timeout)


class PostgresQueueTables:
    """Procrastinate's tables in the agent's schema.

    Args:
        pool: The agent's database.
    """

    def __init__(self, pool: PostgresPool) -> None:
        self._pool = pool
        self.schema = pool.schema

    def connector(self) -> PsycopgConnector:
        """Connections for the queue only: the worker keeps some of them busy."""
        return PsycopgConnector(
            pool_factory=QueuePool,
            connection_class=AnsweringConnection,
            conninfo=self._pool.conninfo,
            configure=self._configure,
            min_size=1,
            max_size=4,
            timeout=self._pool.wait_seconds,
            start_seconds=self._pool.connect_seconds,
            reconnect_timeout=RECONNECT_SECONDS,
            name=f"{self.schema} queue",
        )

    async def _configure(self, connection: Any) -> None:
        await self._pool.prepare(connection)
        await connection.commit()

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[PostgresQueueTransaction]:
        """A transaction on a connection of the agent's pool."""
        async with self._pool.transaction() as connection:
            yield PostgresQueueTransaction(connection)

    def held_if_free(self, number: int) -> AbstractAsyncContextManager[bool]:
        """Hold a lock outside a transaction; wait for commands."""
        return held_if_free(self._pool, number)


class PostgresQueueTransaction:
    """A transaction with advisory locks.

    Attributes:
        connection: Its connection.
    """

    def __init__(self, connection: Connection) -> None:
        self.connection = connection

    async def lock(self, number: int, *, shared: bool = False) -> None:
        """Wait for a lock, at most as long as for a lock on a table."""
        take = "pg_advisory_xact_lock_shared" if shared else "pg_advisory_xact_lock"
        await self.connection.execute(sql.SQL("SELECT {}(%s)").format(sql.Identifier(take)), (number,))

    async def try_lock(self, number: int) -> bool:
        """Take the lock if it is free; return whether it was taken."""
        cursor = await self.connection.execute("SELECT pg_try_advisory_xact_lock(%s)", (number,))
        row = await cursor.fetchone()
        return bool(row and row[0])

    async def counts(self, queue: str, task_id: str, alive: float) -> Counts:
        """The unfinished jobs of a queue."""
        values = {"task": task_id, "queue": queue, "alive": alive}
        workers, task_busy, found = await self._one(COUNTS, values)
        return Counts(workers, task_busy, loads_of(found))

    async def _one(self, query: LiteralString, values: dict[str, Any]) -> Any:
        return await (await self.connection.execute(query, values)).fetchone()
