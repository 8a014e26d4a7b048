"""`up`: the service in the foreground."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from multi_agents.cli.chat.interrupts import watch_interrupts
from multi_agents.cli.console import say
from multi_agents.cli.exit_codes import ExitCode
from multi_agents.cli.running import run
from multi_agents.cli.service.keeper import PAUSES, kept_up
from multi_agents.cli.service.local import LaunchOptions, local_service
from multi_agents.cli.service.ready import ended
from multi_agents.cli.service.runfile import RunningService
from multi_agents.cli.service.service import Service
from multi_agents.cli.view.startup import StartupView


def up(options: LaunchOptions) -> ExitCode:
    """Run the command and give its exit code."""
    return run(_up(options))


async def _up(options: LaunchOptions) -> ExitCode:
    async with local_service(options, StartupView) as (running, own):
        if own is None:
            say(f"The service runs already (process {running.pid}):")
            _list(running)
            return ExitCode.OK
        say("The service is up. Ctrl-C ends it.")
        _list(running)
        return await until_stopped(own)


async def until_stopped(service: Service, *, pauses: Sequence[float] = PAUSES) -> ExitCode:
    """Keep a service until Ctrl-C. A process that ends by itself is started again.

    Args:
        service: The service of this process.
        pauses: Seconds before each start in a row.

    Raises:
        PlatformError: A process ended after each of these starts, or cannot be kept up: what supervises this one may start all of them anew.
    """
    with watch_interrupts() as interrupts:
        async with kept_up(service, _tell, pauses=pauses) as down:
            stop = asyncio.create_task(interrupts.first.wait())
            try:
                either: set[asyncio.Future[Any]] = {down, stop}
                await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            finally:
                stop.cancel()
            if down.done():
                raise ended(down.result())
        say("Ending the service.")
        return ExitCode.INTERRUPTED


async def _tell(line: str) -> None:
    say(line)


def _list(running: RunningService) -> None:
    for agent in running.agents:
        say(f"  {agent.name:<12} {agent.url}")
