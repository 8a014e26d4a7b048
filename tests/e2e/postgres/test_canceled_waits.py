"""Who is canceled while waiting for a connection is canceled, also where one comes at that moment."""

from __future__ import annotations

import asyncio

import pytest

from tests.postgres import PostgresServer

pytestmark = [pytest.mark.servers, pytest.mark.timeout(300), pytest.mark.xdist_group("postgres")]


@pytest.mark.parametrize("steps", range(8))
async def test_a_cancel_as_a_connection_is_given_back_is_not_lost(
    postgres: PostgresServer, steps: int
) -> None:
    """`steps` is how far the connection is on its way, in turns of the event loop."""
    async with postgres.opened(DATABASE_CONNECTIONS="2") as pool:

        async def work() -> None:
            await pool.one("SELECT 1")
            await asyncio.Event().wait()

        held, other = await pool.pool.getconn(), await pool.pool.getconn()
        working = asyncio.create_task(work())
        while not pool.pool.get_stats().get("requests_waiting"):
            await asyncio.sleep(0)
        giving = asyncio.create_task(pool.pool.putconn(held))
        for _ in range(steps):
            await asyncio.sleep(0)
        working.cancel()
        await giving
        await asyncio.wait([working], timeout=5)
        assert working.cancelled()
        assert await pool.one("SELECT 2") == (2,)  # the connection is not lost either
        await pool.pool.putconn(other)
