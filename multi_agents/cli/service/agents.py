"""The agents of the service from outside: card, latency, readiness."""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import Sequence
from dataclasses import dataclass

from multi_agents.cli.console import clean, one_line
from multi_agents.cli.errors import CliError
from multi_agents.cli.service.local import configured_agents, running_service, supervisor_port
from multi_agents.cli.service.ports import HOST
from utils.a2a_common.client.agents.agents_file import SUPERVISOR
from utils.protection_settings import ClientTlsSettings


@dataclass(frozen=True, slots=True)
class AgentTarget:
    """An agent to look at. `name` is ours; the card's name is the agent's own."""

    name: str
    url: str


@dataclass(frozen=True, slots=True)
class AgentRow:
    """The result of one look at an agent. `latency_ms` is the time to fetch its card."""

    name: str
    url: str
    health: str
    detail: str = ""
    busy: str = ""
    latency_ms: float | None = None
    card_name: str = ""
    version: str = ""
    skills: tuple[str, ...] = ()


def known_targets() -> list[AgentTarget]:
    """The agents of the running service; without one, the configured ones at their default addresses."""
    running = running_service()
    if running is not None:
        return [AgentTarget(one.name, one.url) for one in running.agents]
    supervisor = AgentTarget(SUPERVISOR, f"http://{HOST}:{supervisor_port()}")
    return [supervisor, *(AgentTarget(one.name, one.url) for one in configured_agents())]


def targets_near(url: str) -> list[AgentTarget]:
    """All agents of the running service when `url` is its supervisor, else the agent at `url`."""
    running = running_service()
    if running is not None and running.supervisor.url == url:
        return [AgentTarget(one.name, one.url) for one in running.agents]
    return [AgentTarget("agent", url)]


async def look_at_all(targets: Sequence[AgentTarget]) -> list[AgentRow]:
    """Look at all of them at once."""
    from utils.a2a_common.client.transport.tls import client_context

    tls = client_context(ClientTlsSettings.load())
    return list(await asyncio.gather(*(look_at(target, tls) for target in targets)))


async def look_at(target: AgentTarget, tls: ssl.SSLContext | None = None) -> AgentRow:
    """One look: card, latency and readiness. An agent that does not answer is a row like the others."""
    from multi_agents.cli.peer.connection import read_card
    from multi_agents.cli.service.ready import look
    from utils.a2a_common.client.transport.connection import http_client
    from utils.a2a_common.client.transport.interfaces import unusable
    from utils.a2a_common.client.transport.limits import CARD, LARGEST_CARD, PeerLimits

    limits = PeerLimits(target.name, CARD, LARGEST_CARD)
    async with http_client(target.url, limits, tls=tls) as http:
        begin = time.perf_counter()
        try:
            card = await read_card(http, target.url)
        except CliError as error:
            return AgentRow(target.name, target.url, "down", error.message)
        latency = (time.perf_counter() - begin) * 1000
        ready = await look(http, target.url)
    why_not = unusable(card)
    not_yet = bool(why_not) or (ready.answers and not ready.ready and bool(ready.detail))
    return AgentRow(
        name=target.name,
        url=target.url,
        health="not ready" if not_yet else "ready",
        detail=why_not or ready.detail,
        busy=ready.busy,
        latency_ms=round(latency, 1),
        card_name=one_line(card.name),
        version=one_line(card.version, 30),
        skills=tuple(clean(skill.name) for skill in card.skills),
    )
