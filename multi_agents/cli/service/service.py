"""Start the whole service, keep an eye on it, and leave nothing behind."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from multi_agents.cli.errors import CliError, ServiceUnreachable
from multi_agents.cli.service.child import Child, start_child
from multi_agents.cli.service.plan import ServicePlan, child_environment
from multi_agents.cli.service.ready import Report, ended, wait_ready
from multi_agents.cli.service.runfile import RunFile, RunningAgent, RunningService

ATTACH_SECONDS = 180.0


@dataclass(frozen=True, slots=True)
class Service:
    """The service of this process."""

    running: RunningService
    children: tuple[Child, ...]

    async def first_death(self) -> ServiceUnreachable:
        """Wait until one of the processes ends by itself, and tell which and how."""
        waits = {asyncio.create_task(child.process.wait()): child for child in self.children}
        try:
            done, _ = await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in waits:
                task.cancel()
        return ended(waits[done.pop()])


@asynccontextmanager
async def start_service(
    plan: ServicePlan, run_file: RunFile, environ: Mapping[str, str], logs: Path, report: Report
) -> AsyncIterator[Service]:
    """Run the service for the length of the block. The caller holds the lock of `run_file`.

    Raises:
        ServiceUnreachable: A process did not come up; the others are ended first.
    """
    children: list[Child] = []
    try:
        for planned in plan.processes:
            children.append(await start_child(planned, child_environment(plan, planned, environ), logs))
        await _all_ready(children, report)
        running = _running(plan, children)
        await asyncio.to_thread(run_file.write, running)
        yield Service(running, tuple(children))
    finally:
        await stop_all(children)


async def attach(run_file: RunFile, limit: float = ATTACH_SECONDS) -> RunningService | None:
    """The service that another process holds, once it is up; `None` when that process gave up.

    Raises:
        ServiceUnreachable: It holds the lock but is not up after `limit` seconds.
    """
    clock = asyncio.get_running_loop().time
    deadline = clock() + limit
    while run_file.is_held():
        running = await asyncio.to_thread(run_file.read)
        if running is not None:
            return running
        if clock() > deadline:
            raise ServiceUnreachable("Another process is starting the service and does not get ready.")
        await asyncio.sleep(0.1)
    return None


async def stop_all(children: list[Child]) -> None:
    """End every process; a cancellation meanwhile does not leave one behind."""
    stopping = asyncio.gather(*(child.stop() for child in children))
    try:
        await asyncio.shield(stopping)
    except asyncio.CancelledError:
        for child in children:
            await child.stop(grace=0)
        raise


async def _all_ready(children: list[Child], report: Report) -> None:
    try:
        await wait_ready(children, report)
    except* CliError as group:
        raise group.exceptions[0] from None


def _running(plan: ServicePlan, children: list[Child]) -> RunningService:
    own = [RunningAgent(one.planned.name, one.planned.url, one.process.pid) for one in children]
    foreign = [RunningAgent(name, url) for name, url in plan.foreign.items()]
    return RunningService(os.getpid(), (*own, *foreign))
