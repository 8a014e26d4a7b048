"""More requests at once than a database accepts one after the other."""

from __future__ import annotations

from contextlib import asynccontextmanager

import pytest

from tests.contract.queue.kinds import replica
from tests.postgres import AGENT, PostgresServer
from utils.a2a_common.engine.postgres_queue_tables import PostgresQueueTables
from utils.errors import Overloaded
from utils.persistence.postgres.pool import PostgresPool

pytestmark = [
    pytest.mark.servers,
    pytest.mark.xdist_group("postgres"),
    pytest.mark.timeout(120),
]


async def test_a_request_that_waited_too_long_behind_others_is_told_to_come_again_and_not_that_somebody_holds_a_lock(
    postgres: PostgresServer,
) -> None:
    settings = postgres.settings(await postgres.migrated()).model_copy(update={"wait_seconds": 0.3})

    @asynccontextmanager
    async def queue():
        pool = PostgresPool(settings, agent=AGENT)
        await pool.open()
        try:
            async with replica(lambda: PostgresQueueTables(pool)) as made:
                yield made.queue
        finally:
            await pool.close()

    async with queue() as first, queue() as second:
        async with first.slot("a", "x"):
            with pytest.raises(Overloaded) as refused:
                async with second.slot("b", "y"):
                    pytest.fail("two requests were accepted at once")
        async with second.slot("b", "y") as slot:
            assert not slot.task_busy
    assert refused.value.retry_after >= 1
