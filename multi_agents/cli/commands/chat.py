"""`chat`: connect, then ask once or talk."""

from __future__ import annotations

import asyncio
from contextlib import nullcontext
from importlib import import_module
from uuid import uuid4

from multi_agents.cli.chat.notify import notify
from multi_agents.cli.console import say
from multi_agents.cli.errors import UsageError
from multi_agents.cli.exit_codes import ExitCode
from multi_agents.cli.running import run
from utils.persistence.private import keep_files_private

CLIENT = "multi_agents.cli.peer.connection"


def chat(url: str | None, ask: str | None, context: str, *, as_json: bool) -> ExitCode:
    """Run the command and give its exit code."""
    keep_files_private()  # the history of what was typed, whoever answers
    return run(_chat(url, ask, context or str(uuid4()), as_json=as_json), as_json=as_json)


async def _chat(url: str | None, ask: str | None, context_id: str, *, as_json: bool) -> ExitCode:
    if ask is not None and not ask.strip():
        raise UsageError("--ask needs a question.")
    if url is not None:
        return await _talk(url, ask, context_id, as_json=as_json)
    from multi_agents.cli.service.local import Wish, local_service

    client = asyncio.create_task(
        asyncio.to_thread(import_module, CLIENT)
    )  # takes a second; so does the start
    async with local_service(Wish()) as (running, own):
        await client
        if own is None:
            say(f"Using the service that runs already at {running.supervisor.url}.")
            return await _talk(running.supervisor.url, ask, context_id, as_json=as_json)
        from multi_agents.cli.service.keeper import kept_up
        from multi_agents.cli.service.progress import progress_told

        progress = progress_told(own, notify) if ask is None else nullcontext()
        async with kept_up(own, notify), progress:
            return await _talk(running.supervisor.url, ask, context_id, as_json=as_json)


async def _talk(url: str, ask: str | None, context_id: str, *, as_json: bool) -> ExitCode:
    from multi_agents.cli.peer.connection import connect

    async with connect(url) as peer:
        if ask is not None:
            from multi_agents.cli.chat.ask import ask as ask_once

            return await ask_once(peer, ask, context_id=context_id, as_json=as_json)
        from multi_agents.cli.chat.talk import talk

        return await talk(peer, context_id=context_id, as_json=as_json)
