"""A database that comes back: the queue's connections do not wait for as long again as it was away."""

from __future__ import annotations

import asyncio

import pytest
from psycopg_pool import PoolTimeout
from psycopg_pool.base import AttemptWithBackoff

from tests.contract.queue.kinds import replica
from tests.postgres import AGENT, running_server
from utils.a2a_common.engine.postgres_queue_tables import PostgresQueueTables
from utils.a2a_common.engine.procrastinate_queue import ProcrastinateQueue
from utils.errors import StorageError
from utils.persistence.postgres.pool import PostgresPool

pytestmark = [pytest.mark.servers, pytest.mark.timeout(300)]


async def has_no_connection(queue: ProcrastinateQueue) -> bool:
    """Whether a query waited for a connection in vain, so that all earlier ones are known to be lost."""
    try:
        await queue.waiting()
    except StorageError as error:
        return isinstance(getattr(error.__cause__, "__cause__", None), PoolTimeout)
    return False


async def test_after_a_long_outage_the_queue_is_there_as_soon_as_the_database_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # The driver doubles its pause after each attempt; this is the one after an outage of a quarter of an hour.
    monkeypatch.setattr(AttemptWithBackoff, "INITIAL_DELAY", 900.0)
    with running_server() as server:
        pool = PostgresPool(server.settings(await server.migrated(), DATABASE_WAIT_SECONDS="1"), agent=AGENT)
        await pool.open()
        try:
            async with replica(lambda: PostgresQueueTables(pool)) as made:
                await asyncio.to_thread(server.stop)
                while not await has_no_connection(made.queue):
                    """A connection that is not known to be lost failed."""
                await asyncio.to_thread(server.start)
                async with asyncio.timeout(60):
                    while await has_no_connection(made.queue):
                        """Each query waits for a second."""
                await made.add("task", "conversation")
                async with asyncio.timeout(60):
                    while made.begun != ["task"]:
                        await asyncio.sleep(0.01)
        finally:
            await pool.close()
