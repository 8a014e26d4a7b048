"""The terminal of a chat is closed."""

from __future__ import annotations

import json
import signal

import pytest

from tests.e2e.cli.command import finish, start
from tests.e2e.cli.scripted_agent import ScriptedAgent, serve
from tests.e2e.cli.terminal import terminal
from tests.e2e.cli.test_chat import echoing
from tests.e2e.cli.test_up import processes_of, read_until, until
from tests.ports import free_port


async def test_a_chat_with_an_agent_elsewhere_ends(tmp_path):
    async with serve(ScriptedAgent(echoing)) as url, terminal("chat", "--url", url, home=tmp_path) as screen:
        await screen.asks()
        screen.process.send_signal(signal.SIGHUP)
        assert await screen.ends() == 143
        assert "Traceback" not in screen.text


@pytest.mark.timeout(600)  # the whole service
@pytest.mark.long
async def test_the_service_stays_for_the_other_chats_and_then_ends_without_a_trace(tmp_path):
    settings = {"RAG_SOURCES": "", "EMBEDDINGS_PROVIDER": "none"}
    async with terminal("chat", "--port", str(free_port()), home=tmp_path, **settings) as first:
        await first.shows("/help for commands", seconds=120)
        await first.asks()
        second = await start("chat", home=tmp_path, **settings)
        await read_until(second, b"/help for commands")
        first.process.send_signal(signal.SIGHUP)
        await first.shows("1 other chat uses this service.")
        assert json.loads((tmp_path / "run.json").read_text())["agents"]
        done = await finish(second, "/agents\n")
        assert (done.code, done.out.count("ready")) == (0, 3)
        assert await first.ends() == 143
    await until(lambda: processes_of(tmp_path) == [])
    assert not (tmp_path / "run.json").exists()
