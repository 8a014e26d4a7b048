"""`web`: the page in a browser."""

from __future__ import annotations

import asyncio
import webbrowser

from multi_agents.cli.commands.up import until_stopped
from multi_agents.cli.console import say
from multi_agents.cli.errors import UsageError
from multi_agents.cli.exit_codes import ExitCode
from multi_agents.cli.running import run
from multi_agents.cli.service.local import LaunchOptions, local_service
from multi_agents.cli.view.startup import StartupView
from utils.settings import process_environment
from utils.web.settings import WebSettings


def web(options: LaunchOptions, *, opened: bool) -> ExitCode:
    """Run the command and give its exit code."""
    return run(_web(options, opened=opened))


async def _web(options: LaunchOptions, *, opened: bool) -> ExitCode:
    if not WebSettings.load(process_environment()).page:
        raise UsageError("The page is switched off: WEB_PAGE is false.")
    async with local_service(options, StartupView) as (running, own):
        say(f"The page: {running.supervisor.url}")
        if opened:
            await asyncio.to_thread(webbrowser.open, running.supervisor.url)
        if own is None:
            return ExitCode.OK
        say("Ctrl-C ends the service.")
        return await until_stopped(own)
