"""A chat that uses the service of another process is told what happens to that service."""

from __future__ import annotations

import asyncio
import os
import signal

from multi_agents.cli.service.keeper import kept_up
from multi_agents.cli.service.news import news_told
from multi_agents.cli.service.runfile import RunFile
from multi_agents.cli.service.service import KEPT_NEWS
from tests.e2e.cli.test_kept_up import fake_service

DIED = "one was killed by signal 9; it is started again."


async def quiet(_text: str) -> None:
    """Say nothing."""


async def test_an_attached_chat_hears_once_that_an_agent_ended_and_nothing_from_before_it_came(tmp_path):
    told: asyncio.Queue[str] = asyncio.Queue()
    async with (
        asyncio.timeout(60),
        fake_service(tmp_path) as service,
        kept_up(service, quiet, pauses=(0.01,) * 3),
    ):
        service.publish("This was before.")
        file = RunFile(tmp_path)
        assert file.acquire() is True
        known = service.running
        async with news_told(file, known, told.put):
            os.kill(service.children[1].process.pid, signal.SIGKILL)
            assert await told.get() == DIED
            service.publish("And a last line.")
            assert await told.get() == "And a last line."
        file.release()
    assert told.empty()


async def test_only_the_newest_lines_are_kept_and_their_numbers_go_on(tmp_path):
    async with asyncio.timeout(60), fake_service(tmp_path) as service:
        for number in range(1, KEPT_NEWS + 6):
            service.publish(f"line {number}")
        assert [one.number for one in service.running.news] == list(range(6, KEPT_NEWS + 6))
        assert service.running.news[-1].text == f"line {KEPT_NEWS + 5}"
