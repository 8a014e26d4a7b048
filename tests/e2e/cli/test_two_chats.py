"""Two chats use one service: leaving the one that started it does not end the other."""

from __future__ import annotations

import asyncio
import json

import pytest

from multi_agents.cli.service.runfile import RunFile
from tests.e2e.cli.command import finish, start, start_leading
from tests.e2e.cli.terminal import terminal
from tests.e2e.cli.test_up import read_until
from tests.ports import free_port

PATIENT_CODE = """
from multi_agents.cli import main
from multi_agents.cli.view import startup

startup.PAUSE_SECONDS = 600
main.main()
"""
PATIENT = ("-c", PATIENT_CODE)
"""The command line that says nothing of a start that takes long, on a loaded machine."""


@pytest.mark.timeout(600)  # the whole service
@pytest.mark.long
async def test_the_service_outlives_the_chat_that_started_it_until_the_other_one_leaves(tmp_path):
    (tmp_path / "pager.md").write_text("# Pager\n\nThe pager code word is heliotrope.\n")
    settings = {"RAG_SOURCES": str(tmp_path / "pager.md"), "EMBEDDINGS_PROVIDER": "none"}
    async with terminal("chat", "--port", str(free_port()), home=tmp_path, **settings) as first:
        await first.shows("/help for commands", seconds=120)
        await first.asks()
        url = json.loads((tmp_path / "run.json").read_text())["agents"][0]["url"]
        second = await start("chat", home=tmp_path, **settings)
        assert url in await read_until(second, b"Using the service that runs already")
        await read_until(second, b"/help for commands")
        first.type("/quit\r")
        at = await first.shows("1 other chat uses this service. It runs here until")
        done = await finish(second, "What do the docs say about the pager code word?\n")
        assert done.code == 0
        assert "heliotrope" in done.out
        assert await first.ends() == 0
        assert at
    assert not (tmp_path / "run.json").exists()


@pytest.mark.timeout(600)  # the whole service
@pytest.mark.long
async def test_a_chat_without_a_terminal_says_in_one_line_that_the_service_is_up(tmp_path):
    settings = {"RAG_SOURCES": "", "EMBEDDINGS_PROVIDER": "none"}
    process = await start_leading(PATIENT, "chat", "--port", str(free_port()), home=tmp_path, **settings)
    lines = await read_until(process, b"/help for commands")
    done = await asyncio.wait_for(finish(process), 60)
    started = [line for line in lines.splitlines() if not line.startswith("Port ")]
    assert started[0].startswith("Started supervisor, github, rag in ")
    assert len(started) == 3
    assert done.code == 0


async def test_a_chat_says_that_it_waits_for_the_service_that_another_process_starts(tmp_path):
    starting = RunFile(tmp_path)
    assert starting.acquire()
    process = await start("chat", "--ask", "Hello", home=tmp_path)
    await read_until(process, b"Another process is starting the service in ")
    process.terminate()
    await finish(process)
    starting.release()
