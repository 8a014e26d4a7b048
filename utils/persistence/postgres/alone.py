"""Keeps a second process from an agent's schema if only one process may run its turns."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

import psycopg
import structlog

from utils.cancellation import end_tasks
from utils.errors import SettingsError, StorageError
from utils.persistence.postgres.errors import storage_errors
from utils.persistence.postgres.names import lock_number
from utils.persistence.postgres.pool import LONGEST_PAUSE, Connection, PostgresPool
from utils.supervised import supervised

log = structlog.get_logger(__name__)

PATIENCE_SECONDS = 10.0
"""How long to wait for a process that is ending, or whose death the server has not noticed yet."""

_LOOK_SECONDS = 0.2

IN_USE = (
    "This agent runs already: another process works on its tables at DATABASE_URL. End that process, or give each "
    "a database of its own. More than one replica of an agent needs ENGINE=distributed, and two agents need two names."
)

_NOTICED = "SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3"
"""The server notices a process whose machine is gone within half a minute."""


@asynccontextmanager
async def only_process_on(pool: PostgresPool, on_lost: Callable[[str], object]) -> AsyncIterator[None]:
    """Hold the lock of an agent's schema; the server releases it, however this process ends.

    Args:
        pool: The agent's connections.
        on_lost: Called with the reason if the database was unreachable, and another process has taken the lock meanwhile.

    Raises:
        SettingsError: Another process holds the lock.
        StorageError: The database failed.
    """
    connection = await _locked(pool)
    if connection is None:
        raise SettingsError("DATABASE_URL", IN_USE)
    pool.alone = True
    watch = asyncio.create_task(_keep(pool, connection, on_lost))
    try:
        yield
    finally:
        pool.alone = False
        await end_tasks([watch])


async def _locked(pool: PostgresPool) -> Connection | None:
    """A connection that holds the lock; `None` if another process holds it."""
    clock = asyncio.get_running_loop().time
    deadline = clock() + PATIENCE_SECONDS
    connection = await pool.connect()
    try:
        with storage_errors():
            await connection.execute(_NOTICED)
            while True:
                found = await connection.execute("SELECT pg_try_advisory_lock(%s)", (_number(pool),))
                row = await found.fetchone()
                if row and row[0]:
                    return connection
                if clock() > deadline:
                    break
                await asyncio.sleep(_LOOK_SECONDS)
    except BaseException:
        await connection.close()
        raise
    await connection.close()
    return None


def _number(pool: PostgresPool) -> int:
    return lock_number(pool.schema, "process")


async def _keep(pool: PostgresPool, connection: Connection, on_lost: Callable[[str], object]) -> None:
    """Take the lock again whenever its connection is lost."""
    held: Connection | None = connection

    async def step() -> float | None:
        nonlocal held
        if held is None:
            held = await _locked(pool)
            if held is not None:
                return 0.0
            log.error("database.in_use", schema=pool.schema, effect="this process stops")
            on_lost(IN_USE)
            return None
        current, held = held, None
        try:
            with suppress(psycopg.Error, OSError):
                async for _ in current.notifies():
                    """There are no notifications: this waits for the end of the connection."""
        finally:
            await current.close()
        log.warning("database.lock_lost", schema=pool.schema)
        return 0.0

    try:
        await supervised("process_lock", step, foreseen=(StorageError,), longest=LONGEST_PAUSE)
    finally:
        if held is not None:
            await held.close()
