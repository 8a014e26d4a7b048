"""Starts the processes of the service: forked from one process that has imported what they share, else spawned.

Every process has its own log, environment and session either way; `docs/decisions/0009-agents-are-forked.md`
says why they are forked.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from multi_agents.cli.paths import AGENT_MODULE
from multi_agents.cli.service.child import Child
from multi_agents.cli.service.plan import Planned, ServicePlan, child_environment, shared_environment
from utils.a2a_common.server.preload import SHARED_MODULES
from utils.atomic_file import writing
from utils.processes.adoption import can_adopt
from utils.processes.fork_client import LAUNCHER, ForkServer, ForkServerGone
from utils.processes.request import ProcessTarget
from utils.processes.settings import ProcessSettings, StartMethod

FORK_SERVER = "fork-server"
"""Name of its log."""

Start = Callable[[Planned], Awaitable[Child]]


@asynccontextmanager
async def process_starter(
    plan: ServicePlan, environ: Mapping[str, str], logs: Path, *options: str
) -> AsyncIterator[Start]:
    """The function that starts one process of the plan. It works only within the block; the processes outlive it.

    Args:
        plan: What there is to start.
        environ: The variables of the service.
        logs: Where each process has its log.
        options: Further arguments of each process.
    """
    method = ProcessSettings.load(environ).start_method
    server = None
    if method is StartMethod.FORK and can_adopt():
        server = await _fork_server(shared_environment(environ), logs)

    async def start(planned: Planned) -> Child:
        target = ProcessTarget(
            planned.module,
            ("--host", planned.host, "--port", str(planned.port), "--exit-with-parent", *options),
            child_environment(plan, planned, environ),
        )
        log = await asyncio.to_thread(_fresh_log, logs, planned.name)
        if server is not None:
            with suppress(ForkServerGone), log.open("ab") as sink:  # its own log says why
                return Child(planned, await server.fork(target, sink), log)
        return Child(planned, await _spawn(target, log), log)

    try:
        yield start
    finally:
        if server is not None:
            await server.close()


async def _fork_server(environ: Mapping[str, str], logs: Path) -> ForkServer:
    log = await asyncio.to_thread(_fresh_log, logs, FORK_SERVER)
    with log.open("ab") as sink:
        return await ForkServer.start(SHARED_MODULES, environ, sink)


async def _spawn(target: ProcessTarget, log: Path) -> asyncio.subprocess.Process:
    with log.open("ab") as sink:
        return await asyncio.create_subprocess_exec(
            *(sys.executable, "-I", str(LAUNCHER), str(os.getpid())),
            *(AGENT_MODULE, target.module, *target.arguments),
            env=dict(target.environ),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=sink,
            stderr=sink,
            start_new_session=True,
        )


def _fresh_log(logs: Path, name: str) -> Path:
    """An empty `logs/NAME.log`; the log before is kept as `.1`."""
    log = logs / f"{name}.log"
    with writing(log):
        logs.mkdir(parents=True, exist_ok=True)
        if log.exists():
            log.replace(logs / f"{name}.log.1")
        log.touch(mode=0o600)
    return log
