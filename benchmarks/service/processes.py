"""The processes of the service: started, killed, started again, ended with the driver."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from benchmarks.chaos.server_process import ServerProcess
from benchmarks.service.balancer import Balancer
from benchmarks.service.gate import GATE_URL, Gate
from benchmarks.service.script import SUPERVISOR, WORKER
from benchmarks.service.worker import EFFECTS
from tests.ports import free_port
from utils.a2a_common.server.preload import SHARED_MODULES
from utils.processes.fork_client import LAUNCHER, ForkServer
from utils.processes.request import ProcessTarget
from utils.settings import process_environment
from utils.testing.live_server import loopback_socket
from utils.testing.strict_provider import StrictProvider

ROOT = Path(__file__).resolve().parents[2]
MODULES = (*SHARED_MODULES, "multi_agents.platform_engineer.agent", "benchmarks.service.worker")
SETTINGS = {
    "SUB_AGENT_TIMEOUT_SECONDS": "120",
    "SUB_AGENT_REFRESH_SECONDS": "1",
    "TURN_TIMEOUT_SECONDS": "240",
    "LOG_FORMAT": "json",
    "LOG_LEVEL": "INFO",
}


def _environment() -> dict[str, str]:
    """What each process gets: this checkout is named, since nothing is imported from the current folder."""
    return {**process_environment(), "PYTHONPATH": str(ROOT)}


class ForkedAgent(ServerProcess):
    """An agent's process, forked from one that has imported its modules."""

    def __init__(
        self,
        forks: ForkServer,
        module: str,
        arguments: tuple[str, ...],
        home: Path,
        environ: Mapping[str, str],
        *,
        grpc: bool = False,
    ) -> None:
        port = free_port()
        super().__init__(arguments, home, {**environ, "GRPC_PORT": str(port)} if grpc else environ)
        self.home = home
        self.grpc = f"127.0.0.1:{port}"
        self._forks = forks
        self._module = module

    async def launch(self, log: Any) -> Any:
        """Fork it."""
        return await self._forks.fork(ProcessTarget(self._module, tuple(self._command), self._environ), log)


class ModelProcess:
    """The double of the model's API; a request that comes while it is down waits for its next start."""

    def __init__(self, log: Path, gate: str) -> None:
        self._listener = loopback_socket()
        self._log = log
        self._environ = {**_environment(), GATE_URL: gate}
        self._process: asyncio.subprocess.Process | None = None
        double = StrictProvider()
        double.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self.settings = double.environment("openai")

    async def start(self) -> None:
        """Start it; requests wait until it listens."""
        number = self._listener.fileno()
        with self._log.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-I", str(LAUNCHER), str(os.getpid())),
                *("benchmarks.service.model_server", str(number)),
                env=self._environ, pass_fds=[number], stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip

    async def kill(self) -> None:
        """SIGKILL."""
        if self._process is not None and self._process.returncode is None:
            with suppress(ProcessLookupError):
                self._process.kill()
            await self._process.wait()

    async def close(self) -> None:
        """End it for good."""
        await self.kill()
        self._listener.close()


class Service:
    """A supervisor over a worker, and their model.

    Attributes:
        replicas: The processes of each agent.
        model: The double of the model's API.
    """

    def __init__(
        self, replicas: Mapping[str, Sequence[ForkedAgent]], model: ModelProcess, effects: Path
    ) -> None:
        self.replicas = replicas
        self.model = model
        self._effects = effects

    @property
    def supervisor(self) -> ForkedAgent:
        """The first supervisor."""
        return self.replicas[SUPERVISOR][0]

    @property
    def worker(self) -> ForkedAgent:
        """The first worker."""
        return self.replicas[WORKER][0]

    @property
    def processes(self) -> list[ForkedAgent]:
        """All processes of both agents."""
        return [process for replicas in self.replicas.values() for process in replicas]

    @property
    def url(self) -> str:
        """Where the first supervisor is."""
        return self.supervisor.url

    @property
    def agents(self) -> dict[str, ForkedAgent]:
        """Both agents, the first replica of each."""
        return {SUPERVISOR: self.supervisor, WORKER: self.worker}

    def effects(self) -> list[str]:
        """The keys of the effects so far."""
        return self._effects.read_text().split() if self._effects.exists() else []

    def data(self, agent: str) -> Path:
        """The folder with an agent's databases."""
        return next(path.parent for path in self.agents[agent].home.glob("*/tasks.sqlite"))


@asynccontextmanager
async def running_service(
    folder: Path,
    gate: Gate,
    settings: Mapping[str, str] | None = None,
    *,
    through: str = "",
    grpc: bool = False,
    replicas: int = 1,
) -> AsyncIterator[Service]:
    """Both agents and the double, ready for work; all killed at the end.

    Args:
        folder: For data and logs.
        gate: Where tools and streams wait.
        settings: Settings of both agents, beside those above.
        through: A module that runs the agent's module, given as its first argument.
        grpc: Whether the agents speak gRPC too.
        replicas: Processes of each agent; several need PostgreSQL. The supervisors reach the workers through one address.
    """
    model = ModelProcess(folder / "model.log", gate.url)
    effects = folder / "effects.txt"
    environ = {**model.settings, **SETTINGS, GATE_URL: gate.url, EFFECTS: str(effects), **(settings or {})}
    with (folder / "fork-server.log").open("ab") as log:
        forks = await ForkServer.start(MODULES, _environment(), log)
    serve = "utils.a2a_common.server.serve"

    def agents(name: str, environ: Mapping[str, str], module: str, *arguments: str) -> list[ForkedAgent]:
        command = (*([through] if through else []), module, *arguments)
        return [
            ForkedAgent(
                forks,
                command[0],
                command[1:],
                folder / process,
                {**environ, "OPENAI_API_KEY": process},
                grpc=grpc and (name == SUPERVISOR or replicas == 1),  # the card of all replicas is the same
            )
            for process in (replica_name(name, number) for number in range(replicas))
        ]

    async with AsyncExitStack() as stack:
        balanced = environ
        if replicas > 1:
            balancer = Balancer()
            await stack.enter_async_context(balancer.open())
            balanced = {**environ, "PUBLIC_URL": balancer.url}
        workers = agents(WORKER, balanced, serve, "benchmarks.service.worker:Worker")
        reached = workers[0].url
        if replicas > 1:
            balancer.replicas, reached = [worker.url for worker in workers], balancer.url
        environ = {**environ, "SUB_AGENTS": f"{WORKER}={reached}"}
        supervisors = agents(SUPERVISOR, environ, "multi_agents.platform_engineer")
        try:
            await model.start()
            for processes in (workers, supervisors):
                for process in processes:
                    await process.start()
            yield Service({SUPERVISOR: supervisors, WORKER: workers}, model, effects)
        finally:
            for process in (*supervisors, *workers):
                await process.kill()
            await model.close()
            await forks.close()


def replica_name(agent: str, number: int) -> str:
    """The name of a process of an agent: of its folder and its log, and the key that it shows to the model's API."""
    return f"{agent}-{number + 1}" if number else agent
