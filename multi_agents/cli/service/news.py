"""News from the process that holds the service, for chats that were started later."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from multi_agents.cli.service.keeper import Tell
from multi_agents.cli.service.runfile import RunFile, RunningService

LOOK_SECONDS = 1.0


@asynccontextmanager
async def news_told(run_file: RunFile, known: RunningService, tell: Tell) -> AsyncIterator[None]:
    """For the length of the block a person hears what happens to the service that another process holds.

    Args:
        run_file: Where that process writes it.
        known: What it said before.
        tell: Shows the person a line.
    """
    following = asyncio.create_task(_follow(run_file, known, tell))
    try:
        yield
    finally:
        following.cancel()
        await asyncio.gather(following, return_exceptions=True)


async def _follow(run_file: RunFile, known: RunningService, tell: Tell) -> None:
    last = _last(known)
    while True:
        await asyncio.sleep(LOOK_SECONDS)
        running = await asyncio.to_thread(run_file.read)
        if running is None or running.pid != known.pid:
            continue
        for one in running.news:
            if one.number > last:
                await tell(one.text)
        last = max(last, _last(running))


def _last(running: RunningService) -> int:
    return running.news[-1].number if running.news else 0
