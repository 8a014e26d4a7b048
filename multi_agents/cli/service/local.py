"""The local service as commands see it: attach to the one that runs, or start one and end it again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, Self
from urllib.parse import urlsplit

from multi_agents.cli.console import say
from multi_agents.cli.errors import PortTaken
from multi_agents.cli.model.trial import model_tried
from multi_agents.cli.own_settings import OwnSettings, names_beyond, own_settings, wrong_shared
from multi_agents.cli.paths import SUPERVISOR_MODULE
from multi_agents.cli.service.attached import attached, attached_to
from multi_agents.cli.service.plan import (
    AGENTS_FILE,
    SUPERVISOR_PORT,
    ServicePlan,
    make_plan,
    not_passed_on,
)
from multi_agents.cli.service.ports import choose_ports, reserving_ports
from multi_agents.cli.service.ready import Readiness
from multi_agents.cli.service.runfile import RunFile, RunningService
from multi_agents.cli.service.service import Service, Tell, attach, start_service
from multi_agents.cli.settings_groups import (
    settings_of_agents,
    unknown_own_settings,
    unknown_settings,
    wrong_settings,
)
from utils.a2a_common.client.agents.agents_file import (
    AgentEntry,
    load_agents_file,
    parse_sub_agents,
    with_exchange,
    with_shares,
    with_trust,
)
from utils.atomic_file import check_room
from utils.auth.settings import TrustSettings
from utils.environment import repeated_variables
from utils.errors import SettingsError
from utils.persistence.out_of_sight import notice_for
from utils.persistence.private import LOGS, keep_files_private, make_private
from utils.persistence.settings import DatabaseSettings
from utils.settings import HomeSettings, ServerSettings, SubAgentSettings, process_environment
from utils.settings_index import names_of, shared_groups

MOST_STARTS = 3
"""Starts until free ports are found that nobody else takes meanwhile."""

UNUSED = "{option} is not used, since the service runs already. To use it, end process {pid} first."

LOOK_SECONDS = 0.3
"""Between two looks whether another chat still uses the service."""


@dataclass(frozen=True, slots=True)
class LaunchOptions:
    """What to start.

    Attributes:
        port: Port of the supervisor; without one, that of `PORT`, or 8000.
        asked_file: The list of agents that the person named; without one, that of the project.
        module: Module of the supervisor.
    """

    port: int | None = None
    asked_file: Path | None = None
    module: str = SUPERVISOR_MODULE

    @property
    def agents_file(self) -> Path:
        """The list of agents."""
        return self.asked_file or AGENTS_FILE

    def unused(self, running: RunningService) -> list[str]:
        """A sentence for each option that the service that runs already was not started with."""
        options = []
        if self.port not in {None, urlsplit(running.supervisor.url).port}:
            options.append(f"--port {self.port}")
        if self.asked_file is not None and str(self.asked_file.resolve()) != running.agents_file:
            options.append(f"--agents-file {self.asked_file}")
        return [UNUSED.format(option=option, pid=running.pid) for option in options]


class StartView(Protocol):
    """Shows how the processes of a plan start, for the length of a block."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *exc: object) -> None: ...

    def report(self, name: str, state: Readiness) -> None:
        """Take in what a look at a process showed."""


ShowStart = Callable[[ServicePlan], StartView]
Choose = Callable[[Iterable[int]], list[int]]


@asynccontextmanager
async def local_service(
    options: LaunchOptions, show: ShowStart, tell: Tell = say
) -> AsyncIterator[tuple[RunningService, Service | None]]:
    """The running service, and the one that this process started, if it did.

    Args:
        options: What the person asked to be started.
        show: Makes the view of the start.
        tell: Is given a line for the person, where another process takes a while to start the service.

    Raises:
        SettingsError: The list of agents is wrong.
        ServiceUnreachable: The service does not come up.
        StorageError: The data folder cannot be written.
    """
    home = home_folder()
    run_file = RunFile(home)
    keep_files_private()
    await asyncio.to_thread(make_private, home)
    while not run_file.acquire():
        with attached_to(home):  # before the run file is read: its owner counts after it has taken that away
            running = await attach(run_file, tell)
            if running is not None:
                for sentence in options.unused(running):
                    tell(sentence)
                yield running, None
                return
    try:
        async with _started(options, show, run_file) as service:
            yield service.running, service
    finally:
        run_file.release()


async def until_alone(service: Service) -> None:
    """Keep the service for the chats that still use it; a chat that comes after the last starts one of its own."""
    home = service.run_file.path.parent
    service.run_file.path.unlink(missing_ok=True)
    if (others := attached(home)) == 0:
        return
    await asyncio.to_thread(service.run_file.write, service.running)
    users = "1 other chat uses" if others == 1 else f"{others} other chats use"
    say(f"{users} this service. It runs here until they have ended too; Ctrl-C ends it now.")
    while attached(home):  # noqa: ASYNC110 - the kernel sends no event for a lock that was let go
        await asyncio.sleep(LOOK_SECONDS)


@asynccontextmanager
async def _started(options: LaunchOptions, show: ShowStart, run_file: RunFile) -> AsyncIterator[Service]:
    for problem in wrong_settings():
        raise problem
    await asyncio.to_thread(check_room, run_file.path.parent)
    environ = process_environment() | {"PLATFORM_ENGINEER_HOME": str(run_file.path.parent)}
    if unseen := await asyncio.to_thread(notice_for, DatabaseSettings.load(environ), run_file.path.parent):
        say(unseen)
    if left_out := not_passed_on(environ):
        say(left_out)
    entries = configured_agents(options.agents_file)
    if not entries:
        say(f"{options.agents_file} lists no agent: the supervisor starts alone.")
    own = await _checked_own_settings(options.agents_file, environ, entries)

    def plan(choose: Choose) -> ServicePlan:
        return planned(options, environ, entries, own, choose)

    async with AsyncExitStack() as stack:
        unknown = asyncio.create_task(_unknown(entries, own))
        try:
            async with model_tried(environ, _tell):
                service = await _on_free_ports(stack, plan, show, run_file, environ)
        finally:
            for sentence in await unknown:
                say(sentence)
        yield service


def planned(
    options: LaunchOptions,
    environ: Mapping[str, str],
    entries: Sequence[AgentEntry],
    own: Iterable[OwnSettings],
    choose: Choose = choose_ports,
) -> ServicePlan:
    """The plan of a start of the service."""
    listening = ServerSettings.load(environ)
    port = options.port or supervisor_port(environ)
    settings = {one.agent: one.env for one in own}
    listed = "" if SubAgentSettings.load(environ).sub_agents else str(options.agents_file.resolve())
    return make_plan(
        entries, port, options.module, choose, settings=settings, host=listening.host, agents_file=listed
    )


async def _on_free_ports(
    stack: AsyncExitStack,
    plan: Callable[[Choose], ServicePlan],
    show: ShowStart,
    run_file: RunFile,
    environ: Mapping[str, str],
) -> Service:
    """Start the service, for as long as `stack` is open; with other ports where another program took one meanwhile.

    Raises:
        ServiceUnreachable: A process did not come up.
    """
    tries = 0
    while True:
        tries += 1
        async with AsyncExitStack() as attempt:
            chosen = plan(attempt.enter_context(reserving_ports()))
            try:
                with show(chosen) as view:
                    starting = start_service(
                        chosen, run_file, environ, run_file.path.parent / LOGS, view.report
                    )
                    service = await attempt.enter_async_context(starting)
            except PortTaken:
                if tries == MOST_STARTS:
                    raise
                say("Another program took a port of the service meanwhile; it is started with another one.")
                continue
            stack.push_async_exit(attempt.pop_all())
            return service


async def _tell(sentence: str) -> None:
    say(sentence)


async def _checked_own_settings(
    agents_file: Path, environ: Mapping[str, str], entries: Iterable[AgentEntry]
) -> tuple[OwnSettings, ...]:
    """The settings of single processes, all of whose values can be read.

    Raises:
        SettingsError: One cannot. Names file, agent and setting.
    """
    own = own_settings(agents_file, environ)
    for problem in wrong_shared(own, environ):
        raise problem
    if names_beyond(own, names_of(shared_groups())):
        for sentence in (await settings_of_agents(entries, own)).wrong_own:
            raise SettingsError("env", sentence)
    return own


async def _unknown(entries: Iterable[AgentEntry], own: Sequence[OwnSettings]) -> list[str]:
    """Warnings of names that look like settings and are none; found out while the processes start."""
    told = await settings_of_agents(entries)
    found = [*unknown_settings(told.names), *unknown_own_settings(told.names, own)]
    return [
        *(one.sentence for one in found if one.suspicious),
        *(one.sentence for one in repeated_variables()),
    ]


def configured_agents(agents_file: Path = AGENTS_FILE) -> tuple[AgentEntry, ...]:
    """The sub-agents of `SUB_AGENTS`, else of the file, with what the other variables of `SUB_AGENTS_…` say of them."""
    settings = SubAgentSettings.load()
    entries = parse_sub_agents(settings.sub_agents) if settings.sub_agents else load_agents_file(agents_file)
    trust = TrustSettings.load()
    return with_exchange(with_trust(with_shares(entries, settings.shares or ""), trust.trust), trust.exchange)


def supervisor_port(environ: Mapping[str, str] | None = None) -> int:
    """The port at which the service starts the supervisor if no option names another one."""
    return ServerSettings.load(environ).port or SUPERVISOR_PORT


def home_folder() -> Path:
    """The data folder as an absolute path, so that every process means the same one."""
    return HomeSettings.load().home.absolute()


def running_service() -> RunningService | None:
    """The service that runs now, if one does."""
    return RunFile(home_folder()).read()
