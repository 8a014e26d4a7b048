"""`up`: the service in the foreground."""

from __future__ import annotations

import asyncio

from multi_agents.cli.chat.interrupts import watch_interrupts
from multi_agents.cli.console import say
from multi_agents.cli.exit_codes import ExitCode
from multi_agents.cli.running import run
from multi_agents.cli.service.local import LaunchOptions, local_service
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


async def until_stopped(service: Service) -> ExitCode:
    """Keep a service until Ctrl-C, or until a part of it dies."""
    with watch_interrupts() as interrupts:
        death = asyncio.create_task(service.first_death())
        stop = asyncio.create_task(interrupts.first.wait())
        try:
            await asyncio.wait({death, stop}, return_when=asyncio.FIRST_COMPLETED)
            if death.done():
                raise death.result()
        finally:
            death.cancel()
            stop.cancel()
        say("Ending the service.")
        return ExitCode.INTERRUPTED


def _list(running: RunningService) -> None:
    for agent in running.agents:
        say(f"  {agent.name:<12} {agent.url}")
