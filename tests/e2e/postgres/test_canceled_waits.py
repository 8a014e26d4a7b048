"""Who is canceled while waiting for a connection is canceled, also where one comes at that moment."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest
from procrastinate import App

from tests.postgres import PostgresServer
from utils.a2a_common.engine.postgres_queue_tables import PostgresQueueTables
from utils.a2a_common.engine.procrastinate_queue import ProcrastinateQueue
from utils.a2a_common.engine.resilient_jobs import ResilientJobManager

pytestmark = [pytest.mark.servers, pytest.mark.timeout(300), pytest.mark.xdist_group("postgres")]


async def canceled_as_it_comes(pool: Any, held: Any, work: Coroutine[Any, Any, None], steps: int) -> None:
    """Cancel what waits for a connection of a full pool, `steps` turns of the event loop after one begins to come back."""
    working = asyncio.create_task(work)
    while not pool.get_stats().get("requests_waiting"):
        await asyncio.sleep(0)
    giving = asyncio.create_task(pool.putconn(held))
    for _ in range(steps):
        await asyncio.sleep(0)
    working.cancel()
    await giving
    await asyncio.wait([working], timeout=5)
    assert working.cancelled()


@pytest.mark.parametrize("steps", range(8))
async def test_a_cancel_as_a_connection_is_given_back_is_not_lost(
    postgres: PostgresServer, steps: int
) -> None:
    async with postgres.opened(DATABASE_CONNECTIONS="2") as pool:

        async def work() -> None:
            await pool.one("SELECT 1")
            await asyncio.Event().wait()

        held, other = await pool.pool.getconn(), await pool.pool.getconn()
        await canceled_as_it_comes(pool.pool, held, work(), steps)
        assert await pool.one("SELECT 2") == (2,)  # the connection is not lost either
        await pool.pool.putconn(other)


@pytest.mark.parametrize("steps", range(8))
async def test_a_cancel_as_a_connection_of_the_queue_is_given_back_is_not_lost(
    postgres: PostgresServer, steps: int
) -> None:
    async with postgres.opened() as pool:
        connector = PostgresQueueTables(pool).connector()
        await connector.open_async()
        queue = ProcrastinateQueue(PostgresQueueTables(pool), at_once=1, takeover_seconds=10)
        queue._app = App(connector=connector)  # no worker that asks meanwhile
        queue._manager = ResilientJobManager(connector, queue.name)

        async def work() -> None:
            await queue.find("a")
            await asyncio.Event().wait()

        held = [await connector.pool.getconn() for _ in range(connector.pool.max_size)]
        await canceled_as_it_comes(connector.pool, held.pop(), work(), steps)
        assert await queue.find("a") is None  # the connection is not lost either
        for connection in held:
            await connector.pool.putconn(connection)
        await queue.close()
