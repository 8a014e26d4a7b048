"""Adds an agent to the files that list agents: agents.yaml, compose and the chart. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from multi_agents.cli.scaffold.names import AgentName
from multi_agents.cli.scaffold.yaml_edits import add_entry, append_to_scalar
from utils.a2a_common.client.agents.agents_file import AgentEntry

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
    """Add a service to each stack of docker-compose.yaml, and make its supervisors use it and wait for it."""
    text = add_entry(text, ("services",), _SERVICE.format(name=name.text, port=port))
    text = _used_by("supervisor", text, name.text, f"{name.text}:{port}")
    text = add_entry(text, ("volumes",), f"{name.text}:")
    if f"\n  {_SCALED_SUPERVISORS[0]}:" not in text:  # a file of before that stack
        return text
    text = add_entry(text, ("services",), _SCALED_SERVICE.format(name=name.text, port=port))
    first, *others = _SCALED_SUPERVISORS
    return _used_by(first, text, name.text, f"scaled-{name.text}:{port}", *others)


def _used_by(supervisor: str, text: str, name: str, address: str, *same: str) -> str:
    """Name an agent to a supervisor; `same` are those that have its settings by a merge."""
    services = [("services", each) for each in (supervisor, *same)]

    def at(*keys: str) -> list[tuple[str, ...]]:
        return [(*service, *keys) for service in services]

    for variable, entry in (
        ("SUB_AGENTS", f",{name}=http://{address}"),
        ("SUB_AGENTS_SHARES", f",{name}=results"),
        ("SUB_AGENTS_TRUST", f",{name}=own"),
    ):
        path, *inherited = at("environment", variable)
        text = append_to_scalar(text, path, entry, inherited=inherited)
    waits = f"{address.partition(':')[0]}: {{condition: service_healthy}}"
    path, *inherited = at("depends_on")
    return add_entry(text, path, waits, inherited=inherited)


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

_SCALED_SUPERVISORS = ("supervisor-1", "supervisor-2")
_SCALED_SERVICE = """\
scaled-{name}:
  <<: *agent
  profiles: [scale]
  command: [serve, {name}]
  environment:
    <<: [*scaled-environment, *environment]
    PORT: {port}
    PUBLIC_URL: http://scaled-{name}:{port}
    ALLOWED_HOSTS: ""
  networks: [sub-agents, storage]
  depends_on:
    database: {{condition: service_healthy}}"""


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
