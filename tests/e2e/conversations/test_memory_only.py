"""With STORE=memory nothing that is said is written to a file, and a conversation ends with its process."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from a2a.types.a2a_pb2 import ListTasksRequest

from multi_agents.platform_engineer.agent import PlatformEngineer
from tests.e2e.agents.peers import Keys, ask, connected
from tests.e2e.cli.terminal import terminal
from tests.e2e.conversations.asking import asked, files_with
from tests.e2e.conversations.test_commands import client_url
from tests.e2e.conversations.test_deleting import LONG, SECRET, finding
from tests.e2e.observability.scrape import samples, scraped
from utils.errors import SettingsError
from utils.persistence.settings import DatabaseSettings
from utils.testing.live_agent import running_agent
from utils.testing.scripted_model import ScriptedModel, call, calls

pytestmark = [pytest.mark.filterwarnings("ignore:.*:DeprecationWarning"), pytest.mark.timeout(300)]

MEMORY = {"STORE": "memory"}


async def test_a_turn_with_a_delegation_leaves_no_word_in_any_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path / "temporary"
    elsewhere.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(elsewhere))
    says = [calls(call("keys", request=f"the value of {SECRET}")), f"{SECRET} is 1. {LONG}", "It was 1."]
    home = tmp_path / "home"
    async with (
        running_agent(Keys, home=home, model=finding(SECRET), environ=MEMORY) as keys,
        running_agent(
            PlatformEngineer,
            home=home,
            model=ScriptedModel(script=says),
            environ={**MEMORY, "SUB_AGENTS": f"keys={keys}", "SUB_AGENTS_TRUST": "keys=own"},
        ) as url,
        connected(url) as client,
    ):
        first = await ask(client, f"What is {SECRET}? {LONG}")
        assert SECRET in first.text
        await asked(client, action="rename", contextId=first.context_id, title=f"About {SECRET}")
        assert (await ask(client, "And what was it?", context_id=first.context_id)).text == "It was 1."
        (listed,) = (await asked(client, action="list"))["conversations"]
        assert listed["title"] == f"About {SECRET}"
        read = samples(await scraped(url))
        assert read["stored_bytes", frozenset({("kind", "tasks")})] > 0
        assert files_with(tmp_path, SECRET) == []
        assert list(home.rglob("*.sqlite")) == []
        told = await asked(client, action="delete", contextId=first.context_id)
        assert (told["deleted"], told["kept"]) == (True, [])
    async with (
        running_agent(
            PlatformEngineer, home=home, model=ScriptedModel(script=["Hi."]), environ=MEMORY
        ) as url,
        connected(url) as client,
    ):
        assert not (await client.list_tasks(ListTasksRequest())).tasks


async def test_the_terminal_keeps_no_line_in_a_file(tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    async with (
        running_agent(Keys, home=tmp_path / "home", model=finding(SECRET), environ=MEMORY) as url,
        connected(url) as client,
        terminal("chat", "--url", client_url(client), home=mine, **MEMORY) as screen,
    ):
        await screen.asks()
        screen.type(f"What is {SECRET}?\r")
        await screen.shows("is 1.")
        await screen.asks()
        screen.type("\x1b[A")
        await screen.shows(f"What is {SECRET}?")
    assert files_with(tmp_path, SECRET) == []


def test_a_store_that_contradicts_the_database_is_refused() -> None:
    url = "postgresql://user@127.0.0.1/name"
    with pytest.raises(SettingsError, match="contradicts STORE=memory"):
        DatabaseSettings.load({"STORE": "memory", "DATABASE_URL": url})
    with pytest.raises(SettingsError, match="STORE=postgresql needs"):
        DatabaseSettings.load({"STORE": "postgresql"})
    assert DatabaseSettings.load({"STORE": "postgresql", "DATABASE_URL": url}).url is not None
