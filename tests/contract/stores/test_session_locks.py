"""Locks of PostgreSQL that a process holds on one connection: whoever is canceled while asking for one has none afterwards."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import psycopg
import pytest

from tests.postgres import PostgresServer
from utils.persistence.postgres.pool import PostgresPool
from utils.persistence.postgres.session_locks import SessionLocks

pytestmark = [pytest.mark.servers, pytest.mark.timeout(300)]

NUMBER, OTHER = 7, 8
GRANTED = b"SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND granted AND objid = %s"
SINCE = b"SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND backend_start > %s"

Server = psycopg.Connection[tuple[object, ...]]


@pytest.fixture
async def pool(postgres: PostgresServer) -> AsyncIterator[PostgresPool]:
    async with postgres.opened() as pool:
        yield pool


@pytest.fixture
async def locks(pool: PostgresPool) -> AsyncIterator[SessionLocks]:
    made = SessionLocks(pool)
    yield made
    await made.close()


@pytest.fixture
async def server(pool: PostgresPool) -> AsyncIterator[Server]:
    """A connection that blocks the event loop, so that nothing goes on while it asks."""
    with psycopg.connect(pool.conninfo, autocommit=True) as connection:
        yield connection


def is_granted(server: Server, number: int) -> bool:
    row = server.execute(GRANTED, (number,)).fetchone()
    return row is not None and row[0] != 0


async def until(server: Server, number: int, *, granted: bool) -> None:
    async with asyncio.timeout(60):
        while is_granted(server, number) is not granted:
            await asyncio.sleep(0)


async def hold(locks: SessionLocks, number: int, entered: asyncio.Event | None = None) -> None:
    async with locks.held(number):
        if entered is not None:
            entered.set()
        await asyncio.Event().wait()


async def opened(locks: SessionLocks) -> None:
    """Connect, which takes many turns of the event loop."""
    async with locks.held(OTHER):
        pass


@pytest.mark.parametrize("steps", range(6))
async def test_who_is_canceled_as_the_lock_is_granted_does_not_keep_it(
    locks: SessionLocks, server: Server, steps: int
) -> None:
    """`steps` is how far the answer is on its way, in turns of the event loop."""
    await opened(locks)
    asker = asyncio.create_task(hold(locks, NUMBER))
    await until(server, NUMBER, granted=True)  # the answer is not read: the event loop stands
    for _ in range(steps):
        await asyncio.sleep(0)
    asker.cancel()
    await asyncio.wait([asker])
    assert asker.cancelled()
    await until(server, NUMBER, granted=False)


@pytest.mark.parametrize("steps", range(6))
async def test_who_is_canceled_again_and_again_gives_its_lock_back_and_no_other_one(
    locks: SessionLocks, server: Server, steps: int
) -> None:
    entered, kept = asyncio.Event(), asyncio.Event()
    keeper = asyncio.create_task(hold(locks, OTHER, kept))
    holder = asyncio.create_task(hold(locks, NUMBER, entered))
    await asyncio.gather(entered.wait(), kept.wait())
    for _ in range(3):
        holder.cancel()
        for _ in range(steps):
            await asyncio.sleep(0)
    await asyncio.wait([holder])
    await until(server, NUMBER, granted=False)
    assert is_granted(server, OTHER)
    keeper.cancel()
    await asyncio.wait([keeper])


async def test_a_lock_that_went_with_its_connection_takes_no_other_one_along(
    locks: SessionLocks, server: Server
) -> None:
    """Another task of the process may have the same lock on the next connection."""
    entered, again = asyncio.Event(), asyncio.Event()
    first = asyncio.create_task(hold(locks, NUMBER, entered))
    await entered.wait()
    server.execute("SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'")
    await until(server, NUMBER, granted=False)
    second = asyncio.create_task(hold(locks, NUMBER, again))
    await again.wait()
    first.cancel()
    await asyncio.wait([first])
    assert is_granted(server, NUMBER)
    second.cancel()
    await asyncio.wait([second])


async def test_who_ends_after_the_locks_were_closed_opens_no_connection(
    pool: PostgresPool, server: Server
) -> None:
    locks, entered = SessionLocks(pool), asyncio.Event()
    holder = asyncio.create_task(hold(locks, NUMBER, entered))
    await entered.wait()
    await locks.close()
    closed = server.execute("SELECT clock_timestamp()").fetchone()
    holder.cancel()
    await asyncio.wait([holder])
    assert server.execute(SINCE, closed).fetchone() == (0,)
