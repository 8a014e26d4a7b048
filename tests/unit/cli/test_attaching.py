"""A chat that finds the service being started by another process waits for it, and says so where that takes a while."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from multi_agents.cli.errors import ServiceUnreachable
from multi_agents.cli.service.runfile import RunFile, RunningAgent, RunningService
from multi_agents.cli.service.service import SILENT_SECONDS, attach

SERVICE = RunningService(1, (RunningAgent("supervisor", "http://127.0.0.1:1", 1),))


class Told:
    """The lines that a person was told."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.first = asyncio.Event()

    def __call__(self, line: str) -> None:
        self.lines.append(line)
        self.first.set()


async def test_a_wait_of_more_than_a_second_is_told_once_with_what_is_waited_for(tmp_path: Path) -> None:
    held, told = RunFile(tmp_path), Told()
    assert held.acquire()
    async with asyncio.timeout(30):
        waiting = asyncio.create_task(attach(RunFile(tmp_path), told, silent=0))
        await told.first.wait()
        held.write(SERVICE)
        assert await waiting == SERVICE
    held.release()
    (line,) = told.lines
    assert line.startswith(f"Another process is starting the service in {tmp_path}. Waiting up to 180 s")
    assert SILENT_SECONDS <= 2


async def test_a_service_that_is_up_is_attached_to_without_a_word(tmp_path: Path) -> None:
    held, told = RunFile(tmp_path), Told()
    assert held.acquire()
    held.write(SERVICE)
    assert await attach(RunFile(tmp_path), told, silent=0) == SERVICE
    held.release()
    assert await attach(RunFile(tmp_path), told, silent=0) is None
    assert told.lines == []


async def test_a_service_that_does_not_get_ready_ends_the_wait(tmp_path: Path) -> None:
    held, told = RunFile(tmp_path), Told()
    assert held.acquire()
    with pytest.raises(ServiceUnreachable):
        await attach(RunFile(tmp_path), told, limit=0.05, silent=0)
    held.release()
    assert len(told.lines) == 1
