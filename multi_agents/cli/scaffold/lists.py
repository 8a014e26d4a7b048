"""Adds an agent to the files that list agents: agents.yaml, compose and the chart. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from multi_agents.cli.scaffold.names import AgentName
from multi_agents.cli.scaffold.yaml_edits import add_entry, append_to_scalar
from utils.a2a_common.client.agents_file import AgentEntry

FIRST_PORT = 8001
"""The port after the supervisor's."""


def next_port(entries: Iterable[AgentEntry]) -> int:
    """The lowest port from `FIRST_PORT` that no listed agent has."""
    taken = {entry.port for entry in entries}
    port = FIRST_PORT
    while port in taken:
        port += 1
    return port


def in_agents_file(text: str, name: AgentName, port: int) -> str:
    """Add an agent of this checkout to agents/agents.yaml."""
    return add_entry(text, (), f"{name.text}:\n  module: agents.{name.package}\n  port: {port}")


def foreign_in_agents_file(text: str, name: str, url: str) -> str:
    """Add an agent that runs elsewhere to agents/agents.yaml."""
    import json

    return add_entry(text, (), f"{name}:\n  url: {json.dumps(url) if _needs_quotes(url) else url}")


def _needs_quotes(url: str) -> bool:
    return any(sign in url for sign in " #'\"{}[],&*!|>%@`")


def in_compose(text: str, name: AgentName, port: int) -> str:
    """Add a service and its volume to docker-compose.yaml, and make the supervisor depend on it."""
    text = add_entry(text, ("services",), _SERVICE.format(name=name.text, port=port))
    text = append_to_scalar(
        text,
        ("services", "supervisor", "environment", "SUB_AGENTS"),
        f",{name.text}=http://{name.text}:{port}",
    )
    shares = ("services", "supervisor", "environment", "SUB_AGENTS_SHARES")
    text = append_to_scalar(text, shares, f",{name.text}=results")
    trust = ("services", "supervisor", "environment", "SUB_AGENTS_TRUST")
    text = append_to_scalar(text, trust, f",{name.text}=own")
    waits = f"{name.text}: {{condition: service_healthy}}"
    text = add_entry(text, ("services", "supervisor", "depends_on"), waits)
    return add_entry(text, ("volumes",), f"{name.text}:")


def in_values(text: str, name: AgentName, port: int) -> str:
    """Add an agent to the chart's values."""
    return add_entry(text, ("agents",), f"- name: {name.text}\n  port: {port}")


_SERVICE = """\
{name}:
  <<: *agent
  command: [serve, {name}]
  environment:
    <<: *environment
    PORT: {port}
    PUBLIC_URL: http://{name}:{port}
    ALLOWED_HOSTS: ""
  networks: [sub-agents]
  volumes: ["{name}:/data"]"""


@dataclass(frozen=True, slots=True)
class Listing:
    """A file that lists agents: its path in the checkout, and the function that adds one."""

    path: str
    change: Callable[[str, AgentName, int], str]


LISTINGS = (
    Listing("docker-compose.yaml", in_compose),
    Listing("helm/platform-engineer/values.yaml", in_values),
)
"""Lists that need not exist in a checkout."""
