"""`platform-engineer conversations …` and `/clear`, as processes of their own, against a supervisor and its agent."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.e2e.agents.peers import Keys, ask
from tests.e2e.cli.terminal import terminal
from tests.e2e.conversations.asking import asked, files_with
from tests.e2e.conversations.test_deleting import SECRET, finding, supervisor
from utils.testing.live_agent import running_agent

pytestmark = [pytest.mark.filterwarnings("ignore:.*:DeprecationWarning"), pytest.mark.timeout(300)]


async def test_a_person_finds_exports_and_deletes_a_conversation(tmp_path: Path) -> None:
    home, mine = tmp_path / "service", tmp_path / "mine"
    mine.mkdir()
    async with (
        running_agent(Keys, home=home, model=finding(SECRET)) as keys,
        supervisor(home, keys, SECRET) as client,
    ):
        url = ("--url", client_url(client))
        context_id = (await ask(client, f"What is {SECRET}?")).context_id
        async with terminal("conversations", "list", *url, home=mine) as screen:
            assert await screen.ends() == 0
            await screen.shows(f"What is {SECRET}?")
            await screen.shows(context_id)
        async with terminal(
            "conversations", "export", context_id[:8], "-o", "mine.json", *url, home=mine
        ) as screen:
            assert await screen.ends() == 0
        assert json.loads((mine / "mine.json").read_text())["tasks"][0]["contextId"] == context_id
        async with terminal("conversations", "delete", context_id[:8], *url, home=mine) as screen:
            await screen.shows(f"{context_id} (1 request):")
            await screen.shows("Delete it?")
            screen.type("n\n")
            assert await screen.ends() == 0
        assert files_with(home, SECRET)
        async with terminal("conversations", "delete", context_id[:8], "--yes", *url, home=mine) as screen:
            assert await screen.ends() == 0
            await screen.shows("Deleted: 1 request")
        assert files_with(home, SECRET) == []


async def test_clear_says_what_it_deletes_and_deletes_it(tmp_path: Path) -> None:
    home, mine = tmp_path / "service", tmp_path / "mine"
    mine.mkdir()
    async with (
        running_agent(Keys, home=home, model=finding(SECRET)) as keys,
        supervisor(home, keys, SECRET) as client,
        terminal("chat", "--url", client_url(client), home=mine) as screen,
    ):
        await screen.asks()
        screen.type(f"What is {SECRET}?\r")
        await screen.asks()
        assert files_with(home, SECRET)
        screen.type("/clear\r")
        await screen.shows("Deleted: 1 request")
        await screen.shows("A new conversation")
        assert (await asked(client, action="list"))["conversations"] == []
        assert files_with(home, SECRET) == []
        assert files_with(mine, SECRET) == [], "nor what was typed"


def client_url(client: object) -> str:
    """The address of the agent that a client talks to."""
    return str(client._card.supported_interfaces[0].url).rstrip("/")  # type: ignore[attr-defined]
