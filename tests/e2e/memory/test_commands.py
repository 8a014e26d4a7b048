"""What a person types to see what is remembered, and to have it forgotten."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.e2e.cli.command import run
from tests.e2e.memory.house import house

pytestmark = [pytest.mark.filterwarnings("ignore:.*:DeprecationWarning"), pytest.mark.timeout(120)]


async def test_memories_are_added_listed_found_and_forgotten_by_commands(tmp_path: Path) -> None:
    async with house(tmp_path, {}) as service:
        where = ("--url", service.url, "--token", service.keys["ann"])
        added = await run("memory", "add", "I work in Zanzibar.", *where, home=tmp_path)
        assert (added.code, added.err) == (0, "")
        await run("memory", "add", "I like tea.", *where, home=tmp_path)
        listed = await run("memory", "list", *where, home=tmp_path)
        first, second = listed.out.splitlines()
        assert first.startswith("1. [")
        assert first.endswith("I work in Zanzibar.")
        assert second.endswith("I like tea.")
        (found,) = json.loads((await run("memory", "search", "tea", "--json", *where, home=tmp_path)).out)
        assert (found["text"], found["kind"]) == ("I like tea.", "fact")
        unknown = await run("memory", "forget", "7", *where, home=tmp_path)
        assert (unknown.code, "There is no memory 7" in unknown.err) == (2, True)
        assert (await run("memory", "forget", "1", *where, home=tmp_path)).code == 0
        assert "Zanzibar" not in (await run("memory", "list", *where, home=tmp_path)).out
        asks = await run("memory", "forget", "all", *where, home=tmp_path)
        assert (asks.code, "--yes" in asks.err) == (2, True)
        assert (await run("memory", "forget", "all", "--yes", *where, home=tmp_path)).code == 0
        assert (await run("memory", "list", *where, home=tmp_path)).err.strip() == "Nothing is remembered."
        secret = await run("memory", "add", "My password is swordfish-9.", *where, home=tmp_path)
        assert "Not remembered" in secret.err


async def test_the_chat_lists_and_forgets_what_is_remembered(tmp_path: Path) -> None:
    typed = "/memory add I work in Zanzibar.\n/memory\n/memory forget 1\n/memory\n/memory what\n"
    async with house(tmp_path, {}) as service:
        where = ("--url", service.url, "--token", service.keys["ann"])
        told = await run("chat", *where, home=tmp_path, typed=typed)
        assert told.code == 0
        assert told.err.count("I work in Zanzibar.") == 3
        assert "Forgotten: [" in told.err
        assert "Nothing is remembered." in told.err
        assert "/memory lists what is remembered about you" in told.err
