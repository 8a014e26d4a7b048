"""What `/readyz` says while the database is away or its disk is full: which storage fails, and not its address."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import httpx
import pytest

from tests.contract.test_smallest_agent import Namer
from tests.postgres import PostgresServer, running_server
from utils.persistence.postgres import probe
from utils.persistence.postgres.names import schema_name
from utils.persistence.postgres.probe import FULL, LATE
from utils.testing.live_agent import running_agent
from utils.testing.scripted_model import ScriptedModel

pytestmark = [pytest.mark.servers, pytest.mark.timeout(300)]

SECRET = "correct-horse-battery"
HEADERS = {"A2A-Version": "1.0"}
MESSAGE = {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "A name, please."}]}
_REFUSE = """
CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION 'no space left' USING ERRCODE = 'disk_full'; END $$
"""
"""What PostgreSQL says where the disk is full."""


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


async def test_an_agent_for_whose_database_there_is_no_room_is_not_ready_until_half_a_minute_after_its_last_write(
    postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probe, "FRESH_SECONDS", 0.0)
    monkeypatch.setattr(probe, "WAIT_SECONDS", 60.0)
    address = await postgres.migrated(Namer.name)
    async with (
        running_agent(Namer, environ={"DATABASE_URL": address}, model=ScriptedModel.of()) as url,
        httpx.AsyncClient(base_url=url, trust_env=False, timeout=60) as http,
    ):
        postgres.execute(_REFUSE, address)
        postgres.execute(
            f"CREATE TRIGGER full_disk BEFORE INSERT ON {schema_name(Namer.name)}.tasks FOR EACH ROW EXECUTE FUNCTION refuse()",
            address,
        )
        assert (await http.get("/readyz")).status_code == 200
        refused = await http.post("/rest/message:send", json={"message": MESSAGE}, headers=HEADERS)
        full = await http.get("/readyz")
        monkeypatch.setattr(probe, "FULL_SECONDS", 0.0)
        later = await http.get("/readyz")
    assert "The disk is full" in refused.text
    assert (full.status_code, full.json()["detail"]) == (503, FULL)
    assert later.status_code == 200
