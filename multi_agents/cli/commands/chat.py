"""`chat`: connect, then ask once or talk."""

from __future__ import annotations

from uuid import uuid4

from multi_agents.cli.errors import UsageError
from multi_agents.cli.exit_codes import ExitCode
from multi_agents.cli.running import run


def chat(url: str | None, ask: str | None, context: str, *, as_json: bool) -> ExitCode:
    """Run the command and give its exit code."""
    return run(_chat(url, ask, context or str(uuid4()), as_json=as_json), as_json=as_json)


async def _chat(url: str | None, ask: str | None, context_id: str, *, as_json: bool) -> ExitCode:
    from multi_agents.cli.chat.ask import ask as ask_once
    from multi_agents.cli.peer.connection import connect

    if ask is not None and not ask.strip():
        raise UsageError("--ask needs a question.")
    if url is None:
        raise UsageError("--url")
    async with connect(url) as peer:
        if ask is not None:
            return await ask_once(peer, ask, context_id=context_id, as_json=as_json)
        return ExitCode.OK
