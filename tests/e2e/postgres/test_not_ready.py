"""What `/readyz` says while the database is away: which storage fails, and not its address."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import httpx
import pytest

from tests.contract.test_smallest_agent import Namer
from tests.postgres import PostgresServer, running_server
from utils.persistence.postgres.probe import LATE
from utils.testing.live_agent import running_agent
from utils.testing.scripted_model import ScriptedModel

pytestmark = [pytest.mark.servers, pytest.mark.timeout(300)]

SECRET = "correct-horse-battery"


@pytest.fixture(scope="module")
def unsteady() -> Iterator[PostgresServer]:
    """A server that the test stops."""
    with running_server() as server:
        yield server


async def test_an_agent_whose_database_is_away_says_that_it_is_the_database(unsteady: PostgresServer) -> None:
    address = (await unsteady.migrated(Namer.name)).replace("postgres@", f"postgres:{SECRET}@")
    environ = {"DATABASE_URL": address, "DATABASE_CONNECT_SECONDS": "60", "DATABASE_WAIT_SECONDS": "1"}
    async with (
        running_agent(Namer, environ=environ, model=ScriptedModel.of()) as url,
        httpx.AsyncClient(base_url=url, trust_env=False) as http,
        asyncio.timeout(120),
    ):
        assert (await http.get("/readyz")).status_code == 200
        await asyncio.to_thread(unsteady.stop)
        while (away := await http.get("/readyz")).status_code == 200 or LATE in away.json()["detail"]:
            await asyncio.sleep(
                0.05
            )  # an answer counts for two seconds, and the cause is looked for behind it
        await asyncio.to_thread(unsteady.start)
        while (await http.get("/readyz")).status_code == 503:
            await asyncio.sleep(0.05)
    detail = away.json()["detail"]
    assert detail.startswith(
        "Tasks cannot be stored: the PostgreSQL database at DATABASE_URL does not let this process in."
    )
    assert (
        "If its password was changed, put the new one into DATABASE_URL and start this process again."
        in detail
    )
    assert "disk" not in detail
    assert SECRET not in detail
