"""One agent's process: opens its resources, serves it over A2A, and closes them."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any

import structlog

from utils.a2a_common.server.agent_app import made, version_of
from utils.a2a_common.server.agent_runtime import open_runtime
from utils.a2a_common.server.startup import Startup
from utils.a2a_common.tasks.contained_tasks import contain_tasks
from utils.errors import SettingsError, StorageError
from utils.observability.export import export_traces
from utils.persistence.home_lock import only_process_in
from utils.persistence.out_of_sight import conversations_in
from utils.persistence.private import make_private
from utils.processes.last_moment import CLEANUP_SECONDS, LastMoment
from utils.settings import HomeSettings, ServerSettings

if TYPE_CHECKING:
    from utils.a2a_common.base_langgraph_agent import BaseLangGraphAgent
    from utils.a2a_common.graph.settings import AgentSettings
    from utils.a2a_common.server.draining_server import DrainingServer
    from utils.persistence.postgres.pool import PostgresPool

log = structlog.get_logger(__name__)

EXIT_SETTINGS = 2
"""Exit code for a wrong setting."""

NOT_LISTENING = (
    "This agent cannot listen on {}:{}: another program uses that port, or the address is not of this machine. "
    "Choose another with --port or PORT, or --host or HOST."
)

_PARENT_SECONDS = 1.0
"""Seconds between two looks whether the parent still lives."""


async def run_agent(
    agent_class: type[BaseLangGraphAgent],
    settings: AgentSettings,
    *,
    default_port: int,
    last_moment: LastMoment,
    parent: int | None = None,
) -> str:
    """Serve an agent until SIGINT or SIGTERM, or until it is no longer a child of the process `parent`.

    Even if something blocks its end, `last_moment` ends the process once pause, grace and `CLEANUP_SECONDS` are over.

    Returns:
        Why it stopped by itself; empty where it was told to.

    Raises:
        PlatformError: The agent cannot start, or cannot listen at its address; the message has the reason.
    """
    import uvicorn

    from utils.a2a_common.server.draining_server import DrainingServer
    from utils.a2a_common.server.http.connections import bounded, bounds_of
    from utils.a2a_common.server.http.https import https_options
    from utils.processes.freed_memory import return_freed_memory
    from utils.processes.open_files import raise_open_files

    raise_open_files()
    return_freed_memory()
    listening, https, stopping = settings.server, https_options(settings.server), _Stopping()
    async with AsyncExitStack() as stack:
        stack.push_async_callback(
            export_traces(settings.telemetry, agent=agent_class.name, version=version_of(agent_class))
        )
        database = await _own_storage(agent_class, settings, stack, stopping)
        runtime = await open_runtime(agent_class.name, settings, stack, database=database)
        served, url, port = made(agent_class, runtime, default_port)
        app = Startup(served)
        grace = int(listening.shutdown_grace_seconds) + 1
        config = uvicorn.Config(
            app,
            host=listening.host,
            port=port,
            log_config=None,
            access_log=False,
            timeout_graceful_shutdown=grace,
            http=bounded(bounds_of(listening)),
            ws="none",  # an upgraded connection would leave the limits of `http`
            **https,
        )
        drain, ending = served.state.drain, ending_seconds(listening)
        server = DrainingServer(config, drain, lambda: last_moment.begin(ending, drain.left))
        _watch_beside(server, listening, parent, stack)
        log.info("agent.serving", url=url, home=runtime.home.name)
        _survive_signals()
        contain_tasks(asyncio.get_running_loop())
        await _serve(server, app, NOT_LISTENING.format(listening.host, port))
    return stopping.reason


async def _serve(server: DrainingServer, app: Startup, not_listening: str) -> None:
    """Serve until a signal.

    Raises:
        PlatformError: The application did not start, or `not_listening`.
    """
    try:
        await server.serve()
    except SystemExit:  # how uvicorn ends when the application did not start, or the port is taken
        if app.failure is not None:
            raise app.failure from None
        if app.complete:
            raise SettingsError("PORT", not_listening) from None
        raise


class _Stopping:
    """Stops this process as SIGTERM does.

    Attributes:
        reason: Why, in a sentence for an operator.
    """

    reason = ""

    def begin(self, reason: str) -> None:
        """Stop it for a reason."""
        self.reason = reason
        os.kill(os.getpid(), signal.SIGTERM)


def _watch_beside(
    server: DrainingServer, settings: ServerSettings, parent: int | None, stack: AsyncExitStack
) -> None:
    """Look, until the stack ends, whether the parent still lives, and how long the server's certificate is valid."""
    from utils.a2a_common.server.certificate_watch import served_dates, watch

    beside = [_exit_with_parent(server, parent)] if parent is not None else []
    beside += [watch(dates)] if (dates := served_dates(settings)) else []
    for each in map(asyncio.create_task, beside):
        stack.callback(each.cancel)


def ending_seconds(settings: ServerSettings) -> float:
    """The longest time from a signal to the end of a process."""
    return settings.shutdown_pause_seconds + settings.shutdown_grace_seconds + CLEANUP_SECONDS


async def _own_storage(
    agent: type[BaseLangGraphAgent], settings: AgentSettings, stack: AsyncExitStack, stopping: _Stopping
) -> PostgresPool | None:
    """Make the agent's folder, or its tables in a database, this process' own.

    Raises:
        SettingsError: Another process works on it, or the database cannot be used.
        StorageError: It cannot be written.
    """
    from utils.a2a_common.server.commands.database import further_tables
    from utils.persistence.postgres.opening import open_database

    in_database = settings.database.url is not None
    await _own_home(agent.name, settings.home, None if in_database else stack)
    if in_database and (unseen := await asyncio.to_thread(conversations_in, settings.home.home / agent.name)):
        effect = "they are in files, and stay out of sight while DATABASE_URL is set"
        log.warning("home.out_of_sight", conversations=unseen, effect=effect)
    return await open_database(
        settings.database,
        agent.name,
        stack,
        alone=not settings.engine.distributed(settings.database),
        on_lost=stopping.begin,
        further=further_tables(agent.own_tables) if in_database else (),
    )


async def _own_home(name: str, settings: HomeSettings, lock: AsyncExitStack | None) -> None:
    """Make the agent's folder readable for its owner only, and lock it until `lock` is closed.

    Raises:
        SettingsError: Another process works on it.
        StorageError: It cannot be written.
    """
    try:
        home = settings.agent_home(name)
        if lock is not None:
            await lock.enter_async_context(only_process_in(home))
    except OSError as error:
        raise StorageError("The folder of PLATFORM_ENGINEER_HOME cannot be written.") from error
    refused = await asyncio.to_thread(make_private, settings.home, name)
    if refused:
        log.warning("home.readable_by_others", paths=refused, effect="they belong to somebody else")


def _survive_signals() -> None:
    """Let the code after `serve` run: uvicorn stops on these signals and then raises them again."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: None)


async def _exit_with_parent(server: Any, parent: int) -> None:
    while os.getppid() == parent:  # noqa: ASYNC110 - the kernel sends no event for this
        await asyncio.sleep(_PARENT_SECONDS)
    log.warning("agent.parent_gone")
    server.handle_exit(signal.SIGTERM, None)


def fail(message: str, code: int) -> int:
    """Print one sentence to standard error and return the exit code."""
    sys.stderr.write(message + "\n")
    return code
