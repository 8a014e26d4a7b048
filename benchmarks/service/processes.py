"""The processes of the service: started, killed, started again, ended with the driver."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from benchmarks.chaos.server_process import ServerProcess
from benchmarks.service.gate import GATE_URL, Gate
from benchmarks.service.script import SUPERVISOR, WORKER
from benchmarks.service.worker import EFFECTS
from utils.a2a_common.server.preload import SHARED_MODULES
from utils.processes.fork_client import LAUNCHER, ForkServer
from utils.processes.request import Target
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
        with loopback_socket() as listener:
            port = listener.getsockname()[1]
        super().__init__(arguments, home, {**environ, "GRPC_PORT": str(port)} if grpc else environ)
        self.home = home
        self.grpc = f"127.0.0.1:{port}"
        self._forks = forks
        self._module = module

    async def launch(self, log: Any) -> Any:
        """Fork it."""
        return await self._forks.fork(Target(self._module, tuple(self._command), self._environ), log)


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
    """A supervisor over a worker, and their model."""

    def __init__(
        self, supervisor: ForkedAgent, worker: ForkedAgent, model: ModelProcess, effects: Path
    ) -> None:
        self.supervisor = supervisor
        self.worker = worker
        self.model = model
        self._effects = effects

    @property
    def url(self) -> str:
        """Where the supervisor is."""
        return self.supervisor.url

    @property
    def agents(self) -> dict[str, ForkedAgent]:
        """Both agents."""
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
) -> AsyncIterator[Service]:
    """Both agents and the double, ready for work; all killed at the end.

    Args:
        folder: For data and logs.
        gate: Where tools and streams wait.
        settings: Settings of both agents, beside those above.
        through: A module that runs the agent's module, given as its first argument.
        grpc: Whether the agents speak gRPC too.
    """
    model = ModelProcess(folder / "model.log", gate.url)
    effects = folder / "effects.txt"
    environ = {**model.settings, **SETTINGS, GATE_URL: gate.url, EFFECTS: str(effects), **(settings or {})}
    with (folder / "fork-server.log").open("ab") as log:
        forks = await ForkServer.start(MODULES, _environment(), log)
    serve = "utils.a2a_common.server.serve"

    def agent(name: str, module: str, *arguments: str) -> ForkedAgent:
        command = (*([through] if through else []), module, *arguments)
        return ForkedAgent(forks, command[0], command[1:], folder / name, environ, grpc=grpc)

    worker = agent(WORKER, serve, "benchmarks.service.worker:Worker")
    environ = {**environ, "SUB_AGENTS": f"{WORKER}={worker.url}"}
    supervisor = agent(SUPERVISOR, "multi_agents.platform_engineer")
    try:
        await model.start()
        await worker.start()
        await supervisor.start()
        yield Service(supervisor, worker, model, effects)
    finally:
        for process in (supervisor, worker):
            await process.kill()
        await model.close()
        await forks.close()
