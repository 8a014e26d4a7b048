"""Where more is stored than may be, the oldest conversations go, and no other."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path
from typing import Any

import pytest
from a2a.types.a2a_pb2 import ListTasksRequest

from tests.e2e.agents.peers import Keys, ask, connected
from tests.e2e.observability.scrape import samples, scraped
from tests.postgres import PARAMETER
from utils.testing.live_agent import running_agent
from utils.testing.scripted_model import ScriptedModel

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*:DeprecationWarning"),
    pytest.mark.xdist_group("postgres"),
]

LIMIT = 300_000
SETTINGS = {"RETENTION_TASKS_MB": str(LIMIT / 1e6), "RETENTION_LOOK_SECONDS": "1"}


@pytest.mark.parametrize("store", ["sqlite", PARAMETER])
async def test_the_oldest_conversations_are_deleted_until_what_is_stored_is_below_its_limit(
    store: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    environ = dict(SETTINGS)
    if store == "postgresql":
        environ["DATABASE_URL"] = request.getfixturevalue("postgres").new_database()
    model = ScriptedModel(script=[_long_answer(number) for number in range(30)])
    async with (
        running_agent(Keys, home=tmp_path, model=model, environ=environ) as url,
        connected(url) as client,
    ):
        asked = [(await ask(client, f"Question {number}.")).context_id for number in range(30)]
        async with asyncio.timeout(60):
            while (told := await _retention(url))["retention_bytes"] > LIMIT or await _kept(client) == asked:
                await asyncio.sleep(0.2)
        kept = await _kept(client)
        assert told["retention_limit_bytes"] == LIMIT
    assert 0 < len(kept) < 30
    assert kept == asked[-len(kept) :]


def _long_answer(number: int) -> str:
    """30 kB that hardly can be compressed."""
    dice = random.Random(number)
    return " ".join(dice.randbytes(8).hex() for _ in range(1_800))


async def _kept(client: Any) -> list[str]:
    """The conversations that are there, oldest first."""
    tasks = (await client.list_tasks(ListTasksRequest(page_size=50))).tasks
    return [task.context_id for task in reversed(tasks)]


async def _retention(url: str) -> dict[str, float]:
    told = samples(await scraped(url))
    names = ("retention_bytes", "retention_limit_bytes")
    return {name: told.get((name, frozenset({("kind", "tasks")})), float("inf")) for name in names}
