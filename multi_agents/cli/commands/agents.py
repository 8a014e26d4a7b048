"""`agents`: who there is, how they are, what they can do."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from multi_agents.cli.console import clean, one_line, out, print_json
from multi_agents.cli.errors import CliError
from multi_agents.cli.exit_codes import ExitCode
from multi_agents.cli.running import run
from multi_agents.cli.service.local import configured_agents, running_service
from multi_agents.cli.service.plan import SUPERVISOR_PORT
from multi_agents.cli.service.ports import HOST
from utils.a2a_common.client.agents_file import SUPERVISOR


@dataclass(frozen=True, slots=True)
class Target:
    """An agent to look at. `name` is ours; the card's name is the agent's own."""

    name: str
    url: str


@dataclass(frozen=True, slots=True)
class AgentRow:
    """What one look at an agent showed. `latency_ms` is the time that its card took."""

    name: str
    url: str
    health: str
    detail: str = ""
    busy: str = ""
    latency_ms: float | None = None
    card_name: str = ""
    version: str = ""
    skills: tuple[str, ...] = ()


def agents(url: str | None, *, as_json: bool) -> ExitCode:
    """Run the command and give its exit code: 3 when none of the agents answers."""
    return run(_agents(url, as_json=as_json), as_json=as_json)


async def _agents(url: str | None, *, as_json: bool) -> ExitCode:
    return await show_agents([Target("agent", url)] if url else known_targets(), as_json=as_json)


def known_targets() -> list[Target]:
    """The agents of the running service; without one, the configured ones at their default addresses."""
    running = running_service()
    if running is not None:
        return [Target(one.name, one.url) for one in running.agents]
    supervisor = Target(SUPERVISOR, f"http://{HOST}:{SUPERVISOR_PORT}")
    return [supervisor, *(Target(one.name, one.url) for one in configured_agents())]


def targets_near(url: str) -> list[Target]:
    """All agents of the running service when `url` is its supervisor, else the agent at `url`."""
    running = running_service()
    if running is not None and running.supervisor.url == url:
        return [Target(one.name, one.url) for one in running.agents]
    return [Target("agent", url)]


async def show_agents(targets: Sequence[Target], *, as_json: bool) -> ExitCode:
    """Look at all of them at once and print a table or JSON."""
    rows = await asyncio.gather(*(look_at(target) for target in targets))
    if as_json:
        print_json([asdict(row) for row in rows])
    else:
        _print_table(rows)
    return ExitCode.OK if any(row.health != "down" for row in rows) else ExitCode.UNREACHABLE


async def look_at(target: Target) -> AgentRow:
    """One look: card, latency and readiness. An agent that does not answer is a row like the others."""
    from multi_agents.cli.peer.connection import http_client, read_card
    from multi_agents.cli.service.ready import look

    async with http_client(target.url) as http:
        begin = time.perf_counter()
        try:
            card = await read_card(http, target.url)
        except CliError as error:
            return AgentRow(target.name, target.url, "down", error.message)
        latency = (time.perf_counter() - begin) * 1000
        ready = await look(http, target.url)
    not_yet = ready.answers and not ready.ready and bool(ready.detail)
    return AgentRow(
        name=target.name,
        url=target.url,
        health="not ready" if not_yet else "ready",
        detail=ready.detail,
        busy=ready.busy,
        latency_ms=round(latency, 1),
        card_name=one_line(card.name),
        version=one_line(card.version, 30),
        skills=tuple(clean(skill.name) for skill in card.skills),
    )


def _print_table(rows: Sequence[AgentRow]) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("agent", "health", "latency", "version", "address", "skills"):
        table.add_column(heading, no_wrap=True, overflow="ellipsis" if heading == "skills" else "fold")
    styles = {"ready": "green", "not ready": "yellow", "down": "red"}
    for row in rows:
        latency = "" if row.latency_ms is None else f"{row.latency_ms:.0f} ms"
        health = Text(f"{row.health}, {row.busy}" if row.busy else row.health, style=styles[row.health])
        skills = one_line(", ".join(row.skills) or row.detail)
        table.add_row(Text(row.name), health, latency, Text(row.version), Text(row.url), Text(skills))
    out().print(table)
