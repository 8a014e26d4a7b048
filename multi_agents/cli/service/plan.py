"""What is to be started: names, modules, ports, addresses and the environment of each process. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from multi_agents.cli.paths import ROOT, SUPERVISOR_MODULE
from multi_agents.cli.service.ports import HOST, choose_ports
from utils.a2a_common.client.agents_file import SUPERVISOR, AgentEntry
from utils.a2a_common.protocol.shares import Shares

AGENTS_FILE = ROOT / "agents" / "agents.yaml"
SUPERVISOR_PORT = 8000

OWN_PER_PROCESS = (
    "HOST",
    "PORT",
    "GRPC_PORT",
    "PUBLIC_URL",
    "SUB_AGENTS",
    "SUB_AGENTS_SHARES",
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
        env: Settings of its own, which replace those of the service.
    """

    name: str
    module: str
    port: int
    preferred: int
    env: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def url(self) -> str:
        """Address on loopback."""
        return f"http://{HOST}:{self.port}"


@dataclass(frozen=True, slots=True)
class ServicePlan:
    """The whole service: own processes, the supervisor first, the agents that run elsewhere, and what each is told."""

    processes: Sequence[Planned]
    foreign: Mapping[str, str]
    shares: Mapping[str, Shares] = field(default_factory=dict)

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
) -> ServicePlan:
    """A plan over the ports that are free now; `settings` are those of single processes, by name."""
    own = [(SUPERVISOR, module, port)]
    own += [(one.name, one.module, one.port) for one in entries if one.module and one.port]
    chosen = choose(preferred for _, _, preferred in own)
    planned = [
        Planned(name, module, got, preferred, (settings or {}).get(name, {}))
        for (name, module, preferred), got in zip(own, chosen, strict=True)
    ]
    foreign = {one.name: one.url for one in entries if one.module is None}
    return ServicePlan(planned, foreign, {one.name: one.shares for one in entries})


def shared_environment(base: Mapping[str, str]) -> dict[str, str]:
    """What the environments of all processes have in common."""
    env = {name: value for name, value in base.items() if name not in OWN_PER_PROCESS}
    path = [str(ROOT), *([env["PYTHONPATH"]] if env.get("PYTHONPATH") else [])]
    return env | {"PYTHONPATH": ":".join(path), "PYTHONUNBUFFERED": "1"}


def child_environment(plan: ServicePlan, child: Planned, base: Mapping[str, str]) -> dict[str, str]:
    """The environment of one process: the service's, over it its own settings, over those what the plan decides."""
    env = (
        shared_environment(base)
        | dict(child.env)
        | {"HOST": HOST, "PORT": str(child.port), "PUBLIC_URL": child.url}
    )
    if child is plan.supervisor:
        env["SUB_AGENTS"] = ",".join(f"{name}={url}" for name, url in plan.sub_agents.items())
        env["SUB_AGENTS_SHARES"] = ",".join(f"{name}={shares}" for name, shares in plan.shares.items())
    return env
