"""A process whose clock runs a month ahead deletes no conversation because of its age."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

import httpx
import pytest

from tests.e2e.observability.processes import KEYS, Served, ready, started
from tests.postgres import PostgresServer

pytestmark = pytest.mark.timeout(180)

AHEAD = """
import sys, time
true = time.time
time.time = lambda: true() + 31 * 86_400
sys.argv[1:1] = ["tests.e2e.agents.peers:Keys"]
from utils.a2a_common.server.serve import main
sys.exit(main())
"""
"""The same agent with the wrong clock, from before anything is imported."""

OWN_INTERPRETER = {"PYTHONHASHSEED": "0"}
HEADERS = {"A2A-Version": "1.0"}
KEPT = {
    "EMBEDDINGS_PROVIDER": "none",
    "RETENTION_DAYS": "30",
    "RETENTION_LOOK_SECONDS": "1",
    "RETENTION_TASKS_MB": "1000",
}
HELD = "platform_engineer_retention_held 1.0"
BELIEVED = "platform_engineer_retention_held 0.0"


async def converse(url: str) -> None:
    message = {"messageId": uuid4().hex, "role": "ROLE_USER", "parts": [{"text": "Hello."}]}
    async with httpx.AsyncClient(trust_env=False, timeout=60) as http:
        sent = await http.post(f"{url}/rest/message:send", json={"message": message}, headers=HEADERS)
        assert sent.status_code == 200, sent.text


async def tasks_at(url: str) -> int:
    async with httpx.AsyncClient(trust_env=False) as http:
        return len((await http.get(f"{url}/rest/tasks", headers=HEADERS)).json()["tasks"])


async def looked(served: Served) -> str:
    """What `/metrics` tells once the first look has gone past the ages: then it measures the sizes."""
    async with httpx.AsyncClient(trust_env=False) as http, asyncio.timeout(60):
        while True:
            with suppress(httpx.TransportError):
                told = (await http.get(f"{served.url}/metrics")).text
                if "platform_engineer_retention_bytes{" in told:
                    return told
            await asyncio.sleep(0.05)


def ahead(folder: Path, settings: Mapping[str, str]):
    return started(folder, "ahead", ("-c", AHEAD), {**KEPT, **OWN_INTERPRETER, **settings})


async def test_with_files_a_clock_that_jumped_while_the_agent_was_off_deletes_nothing(tmp_path: Path) -> None:
    with started(tmp_path, "keys", KEYS, KEPT) as right:
        async with ready(right):
            await converse(right.url)
            right.stop()
    with ahead(tmp_path, {}) as wrong:
        told = await looked(wrong)
        assert await tasks_at(wrong.url) == 1
        assert HELD in told
    assert sum("retention.held" in line for line in wrong.lines) == 1


@pytest.mark.servers
async def test_with_a_shared_database_its_clock_measures_and_not_that_of_a_replica(
    tmp_path: Path, postgres: PostgresServer
) -> None:
    shared = {"DATABASE_URL": postgres.new_database()}
    with started(tmp_path, "keys", KEYS, {**KEPT, **shared}) as right:
        async with ready(right):
            await converse(right.url)
            with ahead(tmp_path, shared) as wrong:
                told = await looked(wrong)
                assert await tasks_at(right.url) == 1
                assert BELIEVED in told
            assert any("clock.differs" in line for line in wrong.lines)
