"""The local service as commands see it: attach to the one that runs, or start one and end it again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, Self

from multi_agents.cli.console import say
from multi_agents.cli.own_settings import OwnSettings, names_beyond, own_settings, wrong_shared
from multi_agents.cli.paths import SUPERVISOR_MODULE
from multi_agents.cli.service.plan import (
    AGENTS_FILE,
    SUPERVISOR_PORT,
    ServicePlan,
    make_plan,
)
from multi_agents.cli.service.ready import Readiness
from multi_agents.cli.service.runfile import RunFile, RunningService
from multi_agents.cli.service.service import Service, attach, start_service
from multi_agents.cli.settings_groups import (
    settings_of_agents,
    unknown_own_settings,
    unknown_settings,
    wrong_settings,
)
from utils.a2a_common.client.agents_file import AgentEntry, load_agents_file, parse_sub_agents, with_shares
from utils.errors import SettingsError
from utils.persistence.private import LOGS, keep_files_private, make_private
from utils.settings import HomeSettings, SubAgentSettings, process_environment
from utils.settings_index import names_of, shared_groups


@dataclass(frozen=True, slots=True)
class LaunchOptions:
    """What the person asked to be started."""

    port: int = SUPERVISOR_PORT
    agents_file: Path = AGENTS_FILE
    module: str = SUPERVISOR_MODULE


class StartView(Protocol):
    """Shows how the processes of a plan start, for the length of a block."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *exc: object) -> None: ...

    def report(self, name: str, state: Readiness) -> None:
        """Take in a change."""


ShowStart = Callable[[ServicePlan], StartView]


@asynccontextmanager
async def local_service(
    options: LaunchOptions, show: ShowStart
) -> AsyncIterator[tuple[RunningService, Service | None]]:
    """The running service, and the one that this process started, if it did. `show` makes the view of the start.

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
        running = await attach(run_file)
        if running is not None:
            yield running, None
            return
    try:
        async with _started(options, show, run_file, home) as service:
            yield service.running, service
    finally:
        run_file.release()


@asynccontextmanager
async def _started(
    options: LaunchOptions, show: ShowStart, run_file: RunFile, home: Path
) -> AsyncIterator[Service]:
    for problem in wrong_settings():
        raise problem
    environ = process_environment() | {"PLATFORM_ENGINEER_HOME": str(home)}
    entries = configured_agents(options.agents_file)
    own = await _checked_own_settings(options.agents_file, environ, entries)
    plan: ServicePlan = make_plan(
        entries, options.port, options.module, settings={one.agent: one.env for one in own}
    )
    view = show(plan)
    starting = start_service(plan, run_file, environ, home / LOGS, view.report)
    unknown = asyncio.create_task(_unknown(entries, own))
    try:
        with view:
            service = await starting.__aenter__()
    finally:
        for sentence in await unknown:
            say(sentence)
    try:
        yield service
    finally:
        await starting.__aexit__(None, None, None)


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
    return [one.sentence for one in found if one.suspicious]


def configured_agents(agents_file: Path = AGENTS_FILE) -> tuple[AgentEntry, ...]:
    """The sub-agents of `SUB_AGENTS`, else of the file, with what `SUB_AGENTS_SHARES` says of them."""
    settings = SubAgentSettings.load()
    entries = parse_sub_agents(settings.sub_agents) if settings.sub_agents else load_agents_file(agents_file)
    return with_shares(entries, settings.shares or "")


def home_folder() -> Path:
    """The data folder as an absolute path, so that every process means the same one."""
    return HomeSettings.load().home.absolute()


def running_service() -> RunningService | None:
    """The service that runs now, if one does."""
    return RunFile(home_folder()).read()
