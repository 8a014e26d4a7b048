"""Documents that are embedded while the prompt is already there."""

from __future__ import annotations

import pytest

from tests.e2e.cli.terminal import terminal

SECTION = "\n## Engine {number}\n\nEngine {number} is oiled every {number} days. " + "It runs on steam. " * 30


@pytest.mark.long
@pytest.mark.timeout(600)  # the whole service
async def test_the_prompt_is_there_before_the_documents_are_embedded_and_what_is_missing_is_counted(tmp_path):
    document = tmp_path / "engines.md"
    document.write_text("# Engines\n" + "".join(SECTION.format(number=number) for number in range(1, 151)))
    async with terminal("chat", home=tmp_path, RAG_SOURCES=str(document)) as screen:
        await screen.shows("/help for commands", seconds=120)
        await screen.asks()
        here = await screen.shows("of 150 passages embedded")
        screen.type("What do the docs say about engine 7?\r")
        here = await screen.shows("oiled every 7 days", since=here)
        await screen.shows("rag has finished what it did in the background.", seconds=120)
        screen.type("/quit\r")
        assert await screen.ends() == 0
