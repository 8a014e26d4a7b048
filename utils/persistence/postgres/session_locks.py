"""Locks that a process holds for a while, on a separate connection; they are released when it ends, however it ends.

A cancellation must not interrupt a query: its result says whether the lock was taken, and a connection whose query was
interrupted twice is lost, with all other locks on it. Each query therefore runs in a task of its own.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any, TypeVar

from utils.cancellation import end_tasks
from utils.errors import StorageError
from utils.persistence.postgres.errors import storage_errors

if TYPE_CHECKING:
    from utils.persistence.postgres.pool import Connection, PostgresPool

LOOK_SECONDS = 1.0
"""Pause between two attempts to take a lock that another process holds."""

TAKE = "SELECT pg_try_advisory_lock(%s)"
GIVE_BACK = "SELECT pg_advisory_unlock(%s)"

Result = TypeVar("Result")


class SessionLocks:
    """Any number of locks. If the connection is lost, all locks are, and another process may take them."""

    def __init__(self, pool: PostgresPool) -> None:
        self._pool = pool
        self._connection: Connection | None = None
        self._opening = asyncio.Lock()
        self._asking: set[asyncio.Task[Any]] = set()
        self._tried: set[int] = set()

    @asynccontextmanager
    async def held_if_free(self, number: int) -> AsyncIterator[bool]:
        """Hold a lock within the block; `False` where somebody has it, in another process or in this one by this method.

        Raises:
            StorageError: The server cannot be reached.
        """
        if number in self._tried:  # a session gets a lock again that it has
            yield False
            return
        self._tried.add(number)
        try:
            connection = await self._taken(number)
            try:
                yield connection is not None
            finally:
                if connection is not None:
                    await asyncio.wait([self._spawn(self._give_back(number, connection))])
        finally:
            self._tried.remove(number)

    @asynccontextmanager
    async def held(
        self, number: int, on_wait: Callable[[], Awaitable[None]] | None = None
    ) -> AsyncIterator[None]:
        """Hold a lock within the block. Waits for it, and for a database that is unreachable.

        Args:
            number: The lock.
            on_wait: Awaited once if the lock is not free at once.
        """
        notified = on_wait is None
        connection = None
        while True:
            with suppress(StorageError):
                connection = await self._taken(number)
            if connection is not None:
                break
            if on_wait is not None and not notified:
                notified = True
                await on_wait()
            await asyncio.sleep(LOOK_SECONDS)  # PostgreSQL does not notify when a lock becomes free
        try:
            yield
        finally:
            await asyncio.wait([self._spawn(self._give_back(number, connection))])

    async def _taken(self, number: int) -> Connection | None:
        """The connection that holds the lock now; `None` where it is not free. If canceled meanwhile, no lock stays behind.

        Raises:
            StorageError: The server cannot be reached.
        """
        taking = self._spawn(self._take(number))
        try:
            await asyncio.wait([taking])
        except asyncio.CancelledError:
            self._spawn(self._undo(number, taking))
            raise
        return taking.result()

    async def _undo(self, number: int, taking: asyncio.Task[Connection | None]) -> None:
        with suppress(StorageError):
            connection = await taking
            if connection is not None:
                await self._give_back(number, connection)

    async def _take(self, number: int) -> Connection | None:
        async with self._opening:
            if self._connection is None or self._connection.closed:
                self._connection = await self._pool.connect()
            connection = self._connection
        return connection if await _answer(connection, TAKE, number) else None

    async def _give_back(self, number: int, connection: Connection) -> None:
        """Release a lock, unless it was lost with its connection: another task may hold it on the next one."""
        with suppress(StorageError):
            if not connection.closed:
                await _answer(connection, GIVE_BACK, number)

    def _spawn(self, question: Coroutine[Any, Any, Result]) -> asyncio.Task[Result]:
        task = asyncio.get_running_loop().create_task(question)
        self._asking.add(task)
        task.add_done_callback(self._asking.discard)
        return task

    async def close(self) -> None:
        """Release every lock. Safe to call twice."""
        await end_tasks(self._asking)
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.close()


async def _answer(connection: Connection, query: str, number: int) -> bool:
    with storage_errors():
        cursor = await connection.execute(query.encode(), (number,))
        row = await cursor.fetchone()
    return bool(row and row[0])
