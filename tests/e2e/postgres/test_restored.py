"""A restored database: what its turns did after the backup is not known, so none of them goes on by itself."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.e2e.postgres.test_frozen import begun, rpc, serving, task_of
from tests.e2e.wire.slow_agent import Slow
from tests.e2e.wire.wiring import message
from tests.postgres import PostgresServer

pytestmark = [
    pytest.mark.servers,
    pytest.mark.processes,
    pytest.mark.timeout(300),
    pytest.mark.xdist_group("postgres"),
]

SETTINGS = {
    "DATABASE_CONNECT_SECONDS": "60",
    "EMBEDDINGS_PROVIDER": "none",
    "MAX_CONCURRENT_TURNS": "1",
    "FAIR_TURNS": "false",
    "CALLER_TURNS": "0",
}


@asynccontextmanager
async def agent_of(folder: Path, database: str, *, ends: bool) -> AsyncIterator[httpx.AsyncClient]:
    """A process of the agent, killed with the block; `ends` says whether its turns come to their end."""
    home = folder / "slow"
    home.mkdir(parents=True, exist_ok=True)
    if ends:
        (home / "go").touch()
    async with serving(folder, {**SETTINGS, "DATABASE_URL": database}) as (_, http):
        yield http


async def waiting(http: httpx.AsyncClient) -> str:
    """The id of a task that waits behind another one."""
    sent = {"message": message(), "configuration": {"returnImmediately": True}}
    return str((await http.post("/", json=rpc("SendMessage", sent))).json()["result"]["task"]["id"])


async def ends_of(http: httpx.AsyncClient, *task_ids: str) -> list[dict[str, Any]]:
    """Tasks, once they have ended."""
    async with asyncio.timeout(120):
        while True:
            found = [await task_of(http, task_id) for task_id in task_ids]
            if {task["status"]["state"] for task in found} <= {"TASK_STATE_COMPLETED", "TASK_STATE_FAILED"}:
                return found
            await asyncio.sleep(0.1)


async def test_a_turn_that_ran_or_waited_at_the_backup_fails_and_goes_on_only_where_nothing_was_restored(
    postgres: PostgresServer, tmp_path: Path
) -> None:
    original = await postgres.migrated(Slow.name)
    async with agent_of(tmp_path / "before", original, ends=False) as http:
        old = (await begun(http), await waiting(http))
    copy = postgres.new_database(original.rpartition("/")[2])

    async with agent_of(tmp_path / "restored", copy, ends=False) as http:
        failed = await ends_of(http, *old)
        new = await begun(http)
    async with agent_of(tmp_path / "restarted", copy, ends=True) as http:
        (finished,) = await ends_of(http, new)
    async with agent_of(tmp_path / "original", original, ends=True) as http:
        went_on = await ends_of(http, *old)

    for task in failed:
        assert task["status"]["state"] == "TASK_STATE_FAILED"
        assert "unknown_outcome" in str(task["metadata"])
        assert "restored from a backup" in task["status"]["message"]["parts"][0]["text"]
    assert [task["status"]["state"] for task in (finished, *went_on)] == ["TASK_STATE_COMPLETED"] * 3
