"""Reports background work of an agent while the prompt is open, such as embedding documents, and its end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from multi_agents.cli.service.child import Child
from multi_agents.cli.service.keeper import Tell
from multi_agents.cli.service.ready import look
from multi_agents.cli.service.service import Service
from utils.net.bounded import Bound
from utils.net.web_client import web_client

LOOK_SECONDS = 1.0
LOOKS_PER_LINE = 15
"""Looks between two lines about the same agent."""


@asynccontextmanager
async def progress_told(service: Service, tell: Tell) -> AsyncIterator[None]:
    """For the length of the block a person hears what agents that are ready are still busy with."""
    following = [asyncio.create_task(_follow(child, tell)) for child in service.children]
    try:
        yield
    finally:
        for task in following:
            task.cancel()
        await asyncio.gather(*following, return_exceptions=True)


async def _follow(child: Child, tell: Tell) -> None:
    """Report the background work of one process until it is done; the keeper reports a process that ends."""
    name, looks = child.planned.name, 0
    async with web_client(Bound(), trust_env=False, timeout=5) as http:
        while (now := await look(http, child.planned.url, child.process.pid)).ready and now.busy:
            if looks % LOOKS_PER_LINE == 0:
                await tell(f"{name} goes on in the background: {now.busy}.")
            looks += 1
            await asyncio.sleep(LOOK_SECONDS)
    if looks and now.ready:
        await tell(f"{name} has finished what it did in the background.")
