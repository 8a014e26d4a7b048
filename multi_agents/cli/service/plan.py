"""The plan of a start: names, modules, ports, addresses and the environment of each process. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from multi_agents.cli.paths import ROOT, SUPERVISOR_MODULE, module_path
from multi_agents.cli.service.ports import HOST, choose_ports
from utils.a2a_common.client.agents.agents_file import SUPERVISOR, AgentEntry
from utils.a2a_common.protocol.exchange import ExchangeFor
from utils.a2a_common.protocol.shares import Shares
from utils.a2a_common.protocol.trust import Trust
from utils.net.addresses import http_url

AGENTS_FILE = ROOT / "agents" / "agents.yaml"
SUPERVISOR_PORT = 8000

ANY_ADDRESS = ("0.0.0.0", "::", "localhost")  # noqa: S104 - compared with, never listened on unless it is set
"""Hosts that include the loopback address."""

NO_AGENTS = ","
"""Value of `SUB_AGENTS` for a supervisor without sub-agents: an empty value counts as none, and the file of the project would be read."""

OWN_PER_PROCESS = (
    "HOST",
    "PORT",
    "GRPC_PORT",
    "PUBLIC_URL",
    "TLS_CERT_FILE",
    "TLS_KEY_FILE",
    "TLS_CLIENT_CA_FILE",
    "SUB_AGENTS",
    "SUB_AGENTS_SHARES",
    "SUB_AGENTS_TRUST",
    "SUB_AGENTS_EXCHANGE",
    "ALLOWED_HOSTS",
)
"""Variables that describe one process: a value meant for one must not reach all of them."""


@dataclass(frozen=True, slots=True)
class Planned:
    """One process to start.

    Attributes:
        name: What it is called.
        module: What it runs.
        port: Port that it gets.
        preferred: Port that it would have got, were it free.
        host: Address that it listens on.
        env: Settings of its own, which replace those of the service.
    """

    name: str
    module: str
    port: int
    preferred: int
    host: str = HOST
    env: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def url(self) -> str:
        """Where it is reached from this machine."""
        return http_url(HOST if self.host in ANY_ADDRESS else self.host, self.port)


@dataclass(frozen=True, slots=True)
class ServicePlan:
    """The whole service.

    Attributes:
        processes: Its own processes, the supervisor first.
        foreign: Addresses of the agents that run elsewhere, by name.
        shares: What is shared with each agent.
        trust: What each may cause.
        exchange: For which agents tokens are exchanged.
        agents_file: Absolute path of the list that it is made from; empty where `SUB_AGENTS` replaces it.
    """

    processes: Sequence[Planned]
    foreign: Mapping[str, str]
    shares: Mapping[str, Shares] = field(default_factory=dict)
    trust: Mapping[str, Trust] = field(default_factory=dict)
    exchange: Mapping[str, ExchangeFor] = field(default_factory=dict)
    agents_file: str = ""

    @property
    def supervisor(self) -> Planned:
        """The process that people talk to."""
        return self.processes[0]

    @property
    def sub_agents(self) -> dict[str, str]:
        """Addresses of all sub-agents by name."""
        return {one.name: one.url for one in self.processes[1:]} | dict(self.foreign)


def make_plan(
    entries: Sequence[AgentEntry],
    port: int = SUPERVISOR_PORT,
    module: str = SUPERVISOR_MODULE,
    choose: Callable[[Iterable[int]], list[int]] = choose_ports,
    *,
    settings: Mapping[str, Mapping[str, str]] | None = None,
    host: str = HOST,
    agents_file: str = "",
) -> ServicePlan:
    """A plan over the ports that are free now.

    Args:
        entries: The sub-agents.
        port: Preferred port of the supervisor.
        module: Module of the supervisor.
        choose: Finds free ports.
        settings: Settings of single processes, by name.
        host: Address that the supervisor listens on; its agents listen on loopback.
        agents_file: Absolute path of the list that the sub-agents stand in, if they stand in one.
    """
    own = [(SUPERVISOR, module, port)]
    own += [(one.name, one.module, one.port) for one in entries if one.module and one.port]
    chosen = choose(preferred for _, _, preferred in own)
    planned = [
        Planned(
            name,
            module,
            got,
            preferred,
            host if name == SUPERVISOR else HOST,
            (settings or {}).get(name, {}),
        )
        for (name, module, preferred), got in zip(own, chosen, strict=True)
    ]
    foreign = {one.name: one.url for one in entries if one.module is None}
    shares = {one.name: one.shares for one in entries}
    trust = {one.name: one.trust for one in entries}
    exchange = {one.name: one.exchange for one in entries if one.exchange is not None}
    return ServicePlan(planned, foreign, shares, trust, exchange, agents_file)


def not_passed_on(base: Mapping[str, str]) -> str:
    """A sentence about a setting of the environment that would change what is served, and that no process gets; empty for none."""
    if not base.get("GRPC_PORT"):
        return ""
    return "GRPC_PORT is left out: several processes cannot listen on one port. Set it under `env` of an agent in agents.yaml."


def shared_environment(base: Mapping[str, str]) -> dict[str, str]:
    """The common part of the environments of all processes."""
    env = {name: value for name, value in base.items() if name not in OWN_PER_PROCESS}
    return env | {"PYTHONPATH": module_path(env), "PYTHONUNBUFFERED": "1"}


def child_environment(plan: ServicePlan, child: Planned, base: Mapping[str, str]) -> dict[str, str]:
    """The environment of one process: the service's, over it its own settings, over those what the plan decides."""
    env = (
        {"LLM_REQUESTS_SHARE": f"{1 / len(plan.processes):.4f}"}
        | shared_environment(base)
        | dict(child.env)
        | {"HOST": child.host, "PORT": str(child.port), "PUBLIC_URL": child.url}
    )
    if child is plan.supervisor:
        listed = ",".join(f"{name}={url}" for name, url in plan.sub_agents.items())
        env["SUB_AGENTS"] = listed or NO_AGENTS
        env["SUB_AGENTS_SHARES"] = ",".join(f"{name}={shares}" for name, shares in plan.shares.items())
        env["SUB_AGENTS_TRUST"] = ",".join(f"{name}={trust}" for name, trust in plan.trust.items())
        env["SUB_AGENTS_EXCHANGE"] = ",".join(f"{name}={wanted}" for name, wanted in plan.exchange.items())
    return env
