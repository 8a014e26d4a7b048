"""Ctrl-Z at the prompt stops the chat as any job of a shell, and what was typed is still there afterwards."""

from __future__ import annotations

import pytest

from tests.e2e.cli.scripted_agent import ScriptedAgent, serve
from tests.e2e.cli.terminal import job_terminal
from tests.e2e.cli.test_chat import echoing

pytestmark = pytest.mark.processes


async def test_ctrl_z_stops_the_chat_and_its_line_goes_on_afterwards(tmp_path):
    agent = ScriptedAgent(echoing)
    async with serve(agent) as url, job_terminal("chat", "--url", url, home=tmp_path) as screen:
        await screen.asks()
        screen.type("first half\x1a")
        at = await screen.shows("Stopped by SIGTSTP")
        await screen.shows("first half", since=at)
        screen.type(" and second\r")
        await screen.asks()
        await screen.asks()
        screen.type("/quit\r")
        assert await screen.ends() == 0
    assert [text for text, *_ in agent.seen] == ["first half and second"]
