"""`agents`: the agents, their health and their skills."""

from __future__ import annotations

from dataclasses import asdict

from multi_agents.cli.console import print_json, say
from multi_agents.cli.exit_codes import ExitCode
from multi_agents.cli.running import run
from multi_agents.cli.service.agents import AgentTarget, known_targets, look_at_all
from multi_agents.cli.service.local import running_service
from multi_agents.cli.view.agents import print_agents

NOT_OURS = "No service of `chat` or `up` runs here. These are the configured addresses: what answers there was started in another way."


def agents(url: str | None, *, as_json: bool) -> ExitCode:
    """Run the command and give its exit code: 3 when none of the agents answers."""
    return run(_agents(url, as_json=as_json), as_json=as_json)


async def _agents(url: str | None, *, as_json: bool) -> ExitCode:
    from multi_agents.cli.peer.connection import checked_address

    if url is not None:
        checked_address(url)
    rows = await look_at_all([AgentTarget("agent", url)] if url else known_targets())
    if as_json:
        print_json([asdict(row) for row in rows])
    else:
        if url is None and running_service() is None:
            say(NOT_OURS)
        print_agents(rows)
    return ExitCode.OK if any(row.health != "down" for row in rows) else ExitCode.UNREACHABLE
