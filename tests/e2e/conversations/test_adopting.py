"""Conversations that were had without authentication are given to a person, who lists them and goes on with them."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import pytest
from cryptography.fernet import Fernet
from langchain_core.messages import BaseMessage

from multi_agents.platform_engineer.agent import PlatformEngineer
from tests.e2e.agents.peers import ask, connected
from tests.e2e.cli.command import Finished, run
from tests.e2e.conversations.asking import asked
from tests.postgres import PARAMETER, PostgresServer
from utils.persistence.home_lock import only_process_in
from utils.testing.live_agent import running_agent
from utils.testing.scripted_model import ScriptedModel

pytestmark = [
    pytest.mark.long,
    pytest.mark.filterwarnings("ignore:.*:DeprecationWarning"),
    pytest.mark.timeout(300),
    pytest.mark.xdist_group("postgres"),
]

SECRET = "zanzibar-4711"


@pytest.fixture(params=["plain", "encrypted"])
def keys(request: pytest.FixtureRequest) -> dict[str, str]:
    return {"ENCRYPTION_KEYS": Fernet.generate_key().decode()} if request.param == "encrypted" else {}


@pytest.fixture(params=["sqlite", PARAMETER])
def environ(request: pytest.FixtureRequest, keys: dict[str, str]) -> dict[str, str]:
    if request.param == "sqlite":
        return keys
    server: PostgresServer = request.getfixturevalue("postgres")
    return {**keys, "DATABASE_URL": server.new_database()}


@asynccontextmanager
async def supervisor(home: Path, says: Any, environ: dict[str, str]) -> AsyncIterator[str]:
    model = ScriptedModel(script=says)
    async with running_agent(PlatformEngineer, home=home, model=model, environ=environ) as url:
        yield url


async def adopt(home: Path, environ: dict[str, str], *options: str) -> Finished:
    return await run("conversations", "adopt", "ann", "--agent", "supervisor", *options, home=home, **environ)


def remembered(messages: Sequence[BaseMessage]) -> str:
    return f"You said {SECRET if SECRET in str(messages) else 'nothing'}."


async def test_after_api_keys_are_switched_on_a_person_goes_on_with_what_was_said_before(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    async with supervisor(tmp_path, ["Noted."], environ) as url, connected(url) as client:
        context_id = (await ask(client, f"Note {SECRET}.")).context_id
        await asked(client, action="rename", contextId=context_id, title="Notes")

    listed = await adopt(tmp_path, environ, "--dry-run")
    assert (listed.code, listed.err) == (0, "")
    assert listed.out.splitlines() == ["platform-engineer: 1 to be adopted", f"  {context_id}"]

    given = await adopt(tmp_path, environ, "--json")
    told = json.loads(given.out)
    assert (told["conversations"], told["left"]) == ([context_id], [])
    assert json.loads((await adopt(tmp_path, environ, "--json")).out)["conversations"] == []

    keys = {}
    for name in ("ann", "bob"):
        made = await run("keys", "create", name, "--json", home=tmp_path)
        keys[name] = json.loads(made.out)["key"]
    async with supervisor(tmp_path, remembered, {**environ, "AUTH_MODE": "api-key"}) as url:
        about = ("conversations", "list", "--url", url, "--json", "--token")
        (mine,) = json.loads((await run(*about, keys["ann"], home=tmp_path)).out)
        assert (mine["contextId"], mine["title"]) == (context_id, "Notes")
        assert json.loads((await run(*about, keys["bob"], home=tmp_path)).out) == []
        chat = ("chat", "--url", url, "-q", "--resume", context_id, "--ask", "What did I say?")
        assert (await run(*chat, "--token", keys["ann"], home=tmp_path)).out == f"You said {SECRET}.\n"


async def test_at_our_agents_behind_the_supervisor_the_conversation_goes_on_as_well(tmp_path: Path) -> None:
    asks = ("chat", "-q", "--json", "--ask", "What do the documents say about retention?")
    first = await run(*asks, home=tmp_path)
    assert first.code == 0, first.err
    before = owners(tmp_path / "rag")
    assert [owner for owner, _ in before] == ['["", ""]']
    given = await run("conversations", "adopt", "ann", home=tmp_path)
    assert given.code == 0, given.err
    assert "rag: 1 adopted" in given.out
    key = json.loads((await run("keys", "create", "ann", "--json", home=tmp_path)).out)["key"]
    ((_, context_id),) = owners(tmp_path / "platform-engineer")
    on = {"AUTH_MODE": "api-key", "PLATFORM_ENGINEER_TOKEN": key}
    second = await run(*asks, "--resume", context_id, home=tmp_path, **on)
    assert second.code == 0, second.err
    ((after, context_of_rag),) = owners(tmp_path / "rag")
    assert after == '["", "urn:platform-engineer:supervisor api-key ann"]'
    assert context_of_rag == before[0][1]
    assert tasks(tmp_path / "rag") == 2


async def test_an_agent_that_runs_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "platform-engineer"
    folder.mkdir()
    async with only_process_in(folder):
        refused = await adopt(tmp_path, {})
    assert refused.code == 2
    assert "This agent runs already" in refused.err


def owners(folder: Path) -> list[tuple[str, str]]:
    with closing(sqlite3.connect(folder / "tasks.sqlite")) as db:
        return db.execute("SELECT DISTINCT owner, context_id FROM tasks").fetchall()


def tasks(folder: Path) -> int:
    with closing(sqlite3.connect(folder / "tasks.sqlite")) as db:
        return int(db.execute("SELECT count(*) FROM tasks").fetchone()[0])
