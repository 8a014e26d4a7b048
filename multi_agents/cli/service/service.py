"""Start the whole service, keep an eye on it, and leave nothing behind."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from multi_agents.cli.errors import ServiceUnreachable
from multi_agents.cli.service.child import Child
from multi_agents.cli.service.plan import ServicePlan
from multi_agents.cli.service.ready import Report, wait_ready
from multi_agents.cli.service.runfile import News, RunFile, RunningAgent, RunningService
from multi_agents.cli.service.starter import Start, process_starter
from utils.errors import PlatformError, StorageError

ATTACH_SECONDS = 180.0
SILENT_SECONDS = 1.0
"""How long nothing is said of a service that another process starts."""

WAITS = "Another process is starting the service in {folder}. Waiting up to {seconds:.0f} s until it is ready; Ctrl-C stops the wait."
NOT_READY = "Another process has been starting the service for {seconds:.0f} s and is not ready. See {folder}/logs, or end that process."
KEPT_NEWS = 20

Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Service:
    """The service of this process.

    Attributes:
        plan: What was started.
        run_file: Tells other processes of the service.
        children: Its processes as they are now, the supervisor first. Whatever is in this list is ended with the service.
        start: Starts one process of the plan.
        news: The newest lines for everyone who uses the service.
    """

    plan: ServicePlan
    run_file: RunFile
    children: list[Child]
    start: Start
    news: list[News] = field(default_factory=list)

    @property
    def running(self) -> RunningService:
        """The content of the run file."""
        return _running(self.plan, self.children, self.news)

    def publish(self, text: str) -> None:
        """Publish a line to all users of the service, through the run file."""
        number = self.news[-1].number + 1 if self.news else 1
        self.news[:] = [*self.news[1 - KEPT_NEWS :], News(number, text)]
        self._write()

    async def start_again(self, dead: Child) -> Child:
        """Replace a process that has ended; the rest of its process group is ended first.

        A cancellation meanwhile waits until the new process is known, so that it is ended with the others.
        """
        starting = asyncio.ensure_future(self._replace(dead))
        try:
            return await asyncio.shield(starting)
        except asyncio.CancelledError:
            await starting
            raise

    async def _replace(self, dead: Child) -> Child:
        await dead.stop(grace=0)
        child = await self.start(dead.planned)
        self.children[self.children.index(dead)] = child
        self._write()
        return child

    def _write(self) -> None:
        """Bring the run file up to date: in this thread, so that writes keep their order."""
        with suppress(StorageError):  # such as a full disk: the service itself goes on
            self.run_file.write(self.running)


@asynccontextmanager
async def start_service(
    plan: ServicePlan, run_file: RunFile, environ: Mapping[str, str], logs: Path, report: Report
) -> AsyncIterator[Service]:
    """Run the service for the length of the block. The caller holds the lock of `run_file`.

    Raises:
        ServiceUnreachable: A process did not come up; the others are ended first.
    """
    children: list[Child] = []
    async with process_starter(plan, environ, logs) as start:
        try:
            for planned in plan.processes:
                children.append(await start(planned))
            await _all_ready(children, report)
            service = Service(plan, run_file, children, start)
            await asyncio.to_thread(run_file.write, service.running)
            yield service
        finally:
            await stop_all(children)


async def attach(
    run_file: RunFile, tell: Tell, limit: float = ATTACH_SECONDS, silent: float = SILENT_SECONDS
) -> RunningService | None:
    """The service that another process holds, once it is up; `None` when that process gave up.

    Args:
        run_file: Tells of the service.
        tell: Is given one line for the person, where it takes longer than `silent` seconds.
        limit: Seconds until the wait ends.
        silent: Seconds in which nothing is said.

    Raises:
        ServiceUnreachable: It holds the lock but is not up after `limit` seconds.
    """
    clock = asyncio.get_running_loop().time
    began, told = clock(), False
    deadline = began + limit
    while run_file.is_held():
        running = await asyncio.to_thread(run_file.read)
        if running is not None:
            return running
        if clock() > deadline:
            raise ServiceUnreachable(NOT_READY.format(folder=run_file.path.parent, seconds=limit))
        if not told and clock() - began >= silent:
            told = True
            tell(WAITS.format(folder=run_file.path.parent, seconds=limit))
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
    except* PlatformError as group:
        raise group.exceptions[0] from None


def _running(plan: ServicePlan, children: Sequence[Child], news: Sequence[News]) -> RunningService:
    own = [RunningAgent(one.planned.name, one.planned.url, one.process.pid) for one in children]
    foreign = [RunningAgent(name, url) for name, url in plan.foreign.items()]
    return RunningService(os.getpid(), (*own, *foreign), tuple(news), plan.agents_file)
