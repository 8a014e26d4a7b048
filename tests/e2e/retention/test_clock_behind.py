"""A replica whose clock is a month behind stamps what it stores by the database's clock: nothing of it is deleted too early."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.e2e.observability.processes import KEYS, ready, started
from tests.e2e.retention.test_clock_ahead import KEPT, OWN_INTERPRETER, converse, looked, tasks_at
from tests.postgres import PostgresServer

pytestmark = [pytest.mark.servers, pytest.mark.timeout(180)]

BEHIND = """
import sys, time
true = time.time
time.time = lambda: true() - 31 * 86_400
sys.argv[1:1] = ["tests.e2e.agents.peers:Keys"]
from utils.a2a_common.server.serve import main
sys.exit(main())
"""
"""The same agent with the wrong clock, from before anything is imported."""


async def test_a_conversation_that_a_replica_with_a_clock_that_is_behind_has_written_is_as_young_as_it_is(
    tmp_path: Path, postgres: PostgresServer
) -> None:
    url = postgres.new_database()
    settings = KEPT | {"DATABASE_URL": url, "DATABASE_CONNECT_SECONDS": "60"}
    began = time.time()
    with started(tmp_path, "behind", ("-c", BEHIND), settings | OWN_INTERPRETER) as wrong:
        async with ready(wrong):
            await converse(wrong.url)
            wrong.stop()
    (state,) = postgres.execute("SELECT min(updated) FROM agent_keys.tasks", url)
    assert isinstance(state[0], int)
    assert state[0] / 1e9 >= began - 60
    with started(tmp_path, "keys", KEYS, settings) as right:
        await looked(right)
        assert await tasks_at(right.url) == 1
