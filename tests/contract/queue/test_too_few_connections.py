"""A server that lets an agent in and then gives it no connection for its queue."""

from __future__ import annotations

import pytest

from tests.postgres import AGENT, PostgresServer
from utils.a2a_common.engine.postgres_queue_tables import PostgresQueueTables
from utils.a2a_common.engine.procrastinate_queue import ProcrastinateQueue
from utils.a2a_common.engine.turn_queue import QueuedTurn
from utils.errors import SettingsError
from utils.persistence.postgres.pool import PostgresPool
from utils.persistence.postgres.startup import TOO_FEW

pytestmark = [pytest.mark.servers, pytest.mark.timeout(300)]


async def work(_turn: QueuedTurn) -> None:
    """Nothing is queued."""


async def test_a_start_that_gets_too_few_connections_ends_with_a_sentence(postgres: PostgresServer) -> None:
    url = await postgres.migrated()
    postgres.execute("CREATE ROLE few LOGIN SUPERUSER")
    few = url.replace("postgres@", "few@")
    pool = PostgresPool(postgres.settings(few), agent=AGENT)
    await pool.open()
    pool.connect_seconds = 1
    await pool.one("SELECT 1")  # its one connection is there
    postgres.execute("ALTER ROLE few NOSUPERUSER CONNECTION LIMIT 1")
    queue = ProcrastinateQueue(PostgresQueueTables(pool), at_once=1, takeover_seconds=10)
    try:
        with pytest.raises(SettingsError) as caught:
            await queue.open(work)
        assert caught.value.message == TOO_FEW
    finally:
        await queue.close()
        await pool.close()
        postgres.drop_database(url)
        postgres.execute("DROP ROLE few")
