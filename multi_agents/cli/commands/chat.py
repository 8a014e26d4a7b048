"""`chat`: connect, then ask once or talk."""

from __future__ import annotations

import asyncio
from contextlib import nullcontext
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from uuid import uuid4

from multi_agents.cli.chat.notify import notify
from multi_agents.cli.console import say
from multi_agents.cli.errors import UsageError
from multi_agents.cli.exit_codes import ExitCode
from multi_agents.cli.running import run
from multi_agents.cli.service.local import home_folder
from utils.persistence.private import keep_files_private

CLIENT = "multi_agents.cli.peer.connection"

DOWNLOADS = "downloads"
"""Folder for files of answers, in the data folder."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What the person asked for: one question, or `None` for a chat; files go to `downloads`."""

    text: str | None
    context_id: str
    as_json: bool
    downloads: Path


def chat(
    url: str | None, ask: str | None, context: str, *, as_json: bool, downloads: Path | None
) -> ExitCode:
    """Run the command and give its exit code."""
    keep_files_private()  # the history of what was typed, whoever answers
    asked = Asked(ask, context or str(uuid4()), as_json, downloads or home_folder() / DOWNLOADS)
    return run(_chat(url, asked), as_json=as_json)


async def _chat(url: str | None, asked: Asked) -> ExitCode:
    if asked.text is not None and not asked.text.strip():
        raise UsageError("--ask needs a question.")
    if url is not None:
        return await _talk(url, asked)
    from multi_agents.cli.service.local import LaunchOptions, local_service
    from multi_agents.cli.view.startup import StartupView

    client = asyncio.create_task(
        asyncio.to_thread(import_module, CLIENT)
    )  # takes a second; so does the start
    async with local_service(LaunchOptions(), StartupView) as (running, own):
        await client
        if own is None:
            say(f"Using the service that runs already at {running.supervisor.url}.")
            return await _talk(running.supervisor.url, asked)
        from multi_agents.cli.service.keeper import kept_up
        from multi_agents.cli.service.progress import progress_told

        progress = progress_told(own, notify) if asked.text is None else nullcontext()
        async with kept_up(own, notify), progress:
            return await _talk(running.supervisor.url, asked)


async def _talk(url: str, asked: Asked) -> ExitCode:
    from multi_agents.cli.peer.connection import connect

    async with connect(url) as peer:
        from multi_agents.cli.chat.downloads import Downloads

        downloads = Downloads(asked.downloads)
        context_id, as_json = asked.context_id, asked.as_json
        if asked.text is not None:
            from multi_agents.cli.chat.ask import ask as ask_once

            return await ask_once(
                peer, asked.text, downloads=downloads, context_id=context_id, as_json=as_json
            )
        from multi_agents.cli.chat.talk import talk

        return await talk(peer, downloads=downloads, context_id=context_id, as_json=as_json)
