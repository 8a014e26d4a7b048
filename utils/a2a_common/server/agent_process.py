"""One agent's process: opens its resources, serves it over A2A, and closes them."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from contextlib import AsyncExitStack
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import structlog

from utils.a2a_common.graph.runtime import AgentRuntime
from utils.a2a_common.server.agent_storage import (
    deletion_plan,
    push_configs,
    stored_sizes,
    turn_queue,
    used_tokens,
)
from utils.a2a_common.server.startup import Startup
from utils.auth.exposure import check_exposure
from utils.errors import SettingsError, StorageError
from utils.observability.export import export_traces
from utils.persistence.home_lock import only_process_in
from utils.persistence.private import make_private
from utils.persistence.settings import DatabaseSettings, Store
from utils.persistence.sqlite_file import MemoryFolder
from utils.settings import HomeSettings, LLMSettings, ModelProvider, ServerSettings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from a2a.types.a2a_pb2 import AgentCard
    from langchain_core.language_models import BaseChatModel
    from starlette.applications import Starlette

    from utils.a2a_common.base_langgraph_agent import BaseLangGraphAgent
    from utils.a2a_common.graph.settings import AgentSettings
    from utils.a2a_common.protocol.readiness import Readiness
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


async def open_runtime(
    name: str,
    settings: AgentSettings,
    stack: AsyncExitStack,
    *,
    model: BaseChatModel | None = None,
    database: PostgresPool | None = None,
) -> AgentRuntime:
    """Everything that an agent is given; closed with `stack`.

    Args:
        name: The agent.
        settings: Its settings.
        stack: What closes it.
        model: Replaces the model that the settings name.
        database: Holds what the agent stores; files in its folder when omitted.

    Raises:
        SettingsError: A setting is missing or wrong.
        StorageError: A database cannot be opened.
    """
    from utils.embeddings import create_embedder
    from utils.llm.factory import create_chat_model, kept_connections
    from utils.persistence.encrypted.check import check_keys
    from utils.persistence.stores import stores_in

    settings = await _with_known_window(settings)
    home = settings.home.agent_home(name)
    memory = _memory(settings.database, stack)
    codec = settings.encryption.codec()
    if memory is None:
        await check_keys(codec, home, database)
    embedder = create_embedder(settings.embeddings, cache=None if memory else home, codec=codec)
    notice = "" if model else _notice(settings.llm)
    if model is None:
        made = create_chat_model(settings.llm, embedder_factory=lambda: embedder)
        model = await stack.enter_async_context(kept_connections(made))
    return AgentRuntime(
        home=home,
        settings=settings,
        model=model,
        checkpointer=await stack.enter_async_context(
            stores_in(memory or home, database, codec).checkpointer()
        ),
        embedder=embedder,
        notice=notice,
        database=database,
        memory=memory,
        codec=codec,
        shared_answer_key=await _shared_answer_key(settings, database),
    )


def _memory(settings: DatabaseSettings, stack: AsyncExitStack) -> MemoryFolder | None:
    if settings.store is not Store.MEMORY:
        return None
    log.warning("store.in_memory", effect="conversations end with this process")
    memory = MemoryFolder()
    stack.callback(memory.close)
    return memory


async def _shared_answer_key(settings: AgentSettings, database: PostgresPool | None) -> bytes | None:
    """The key of the secrets of answers, from the database: a question that one replica asks is answered at another."""
    if database is None or settings.auth.answer_key is not None:
        return None
    from utils.persistence.postgres.secrets import shared_secret

    return await shared_secret(database, "answers")


async def _with_known_window(settings: AgentSettings) -> AgentSettings:
    """The settings, with the window that the model's server reports where none is set."""
    from utils.context.limits import explicit_limit
    from utils.context.settings import SMALLEST_WINDOW
    from utils.llm.server_window import server_window

    if explicit_limit(settings.llm.provider, settings.context) is not None:
        return settings
    found = await server_window(settings.llm)
    if found is None:
        return settings
    log.info("model.window_found", tokens=found.tokens)
    context = settings.context.model_copy(update={"window": max(found.tokens, SMALLEST_WINDOW)})
    return replace(settings, context=context)


def agent_card(agent: BaseLangGraphAgent, url: str) -> AgentCard:
    """The card of an agent that is reached at `url`."""
    from utils.a2a_common.server.card import build_card, with_matched_answers
    from utils.a2a_common.server.card_security import with_credentials
    from utils.llm.factory import describe_model

    options = with_credentials(agent.card_options(), agent.name, agent.runtime.settings.auth)
    return build_card(
        name=agent.name,
        description=agent.description,
        skills=agent.offered_skills,
        version=_version(type(agent)),
        url=url,
        model=describe_model(agent.runtime.settings.llm),
        input_modes=_input_modes(agent),
        output_modes=agent.output_modes,
        options=with_matched_answers(options, type(agent)),
    )


def _input_modes(agent: BaseLangGraphAgent) -> Sequence[str]:
    """What an agent declares; one that declares nothing also takes the files that its model reads."""
    from utils.a2a_common.protocol.media_modes import INPUT_MODES
    from utils.llm.inputs import file_types

    if agent.input_modes != INPUT_MODES:
        return agent.input_modes
    return (*INPUT_MODES, *file_types(agent.runtime.model))


def _version(agent_class: type[BaseLangGraphAgent]) -> str:
    from utils.version import project_version

    return agent_class.version or project_version()


def agent_app(agent: BaseLangGraphAgent, settings: ServerSettings, *, url: str) -> Starlette:
    """The application of an agent that is reached at `url`."""
    from utils.a2a_common.handler.consent import Consent
    from utils.a2a_common.server.app import AgentService, build_app
    from utils.a2a_common.server.page_login import page_login
    from utils.a2a_common.tasks.log import TaskLog
    from utils.auth.authenticator import authenticator_for

    card, auth = agent_card(agent, url), agent.runtime.settings.auth

    def renew_card() -> None:
        """Tools of MCP servers join when these are reached, and so do agents behind this one."""
        now = agent_card(agent, url)
        del card.skills[:]
        card.skills.extend(now.skills)
        del card.capabilities.extensions[:]
        card.capabilities.extensions.extend(now.capabilities.extensions)

    async def start() -> None:
        agent.on_rebuilt = renew_card
        await agent.start()
        await agent.build()

    agent.url = url
    service = AgentService(
        card=card,
        executor=agent.executor(),
        preparation=agent.preparation,
        pending_input=agent,
        log=TaskLog(agent.runtime.stores.task_log()),
        runs=agent.runtime.stores.runs(),
        push_configs=push_configs(agent.runtime),
        readiness=partial(_readiness, agent),
        on_start=start,
        on_stop=agent.close,
        middleware=agent.http_middleware(),
        takes_files=True,
        page=agent.runtime.settings.web.page,
        page_login=page_login(agent.runtime.settings.web, auth, agent.name),
        deletion=deletion_plan(agent),
        message_answers=agent.message_answers,
        sizes=partial(stored_sizes, agent.runtime),
        queue=turn_queue(agent.runtime),
        consent=Consent(agent.runtime.answer_key(), agent.name),
        authenticator=authenticator_for(
            agent.name, auth, agent.runtime.settings.home.home, used_tokens(agent.runtime)
        ),
        url=url,
    )
    return build_app(service, settings)


async def _readiness(agent: BaseLangGraphAgent) -> Readiness:
    """What `/readyz` says: the agent's readiness, and which tools of its MCP servers it does without."""
    state = await agent.readiness()
    return replace(state, detail="; ".join(filter(None, [state.detail, agent.mcp_note])))


async def run_agent(
    agent_class: type[BaseLangGraphAgent],
    settings: AgentSettings,
    *,
    default_port: int,
    parent: int | None = None,
) -> None:
    """Serve an agent until SIGINT or SIGTERM, or until it is no longer a child of the process `parent`.

    Raises:
        PlatformError: The agent cannot start; the message says why.
        SystemExit: It cannot listen at its address; the sentence was printed.
    """
    import uvicorn

    from utils.a2a_common.server.connections import bounded, bounds_of
    from utils.a2a_common.server.draining_server import DrainingServer
    from utils.a2a_common.server.https import https_options

    listening, https = settings.server, https_options(settings.server)
    async with AsyncExitStack() as stack:
        stack.push_async_callback(
            export_traces(settings.telemetry, agent=agent_class.name, version=_version(agent_class))
        )
        database = await _own_storage(agent_class, settings, stack)
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
            **https,
        )
        server = DrainingServer(config, served.state.drain)
        if parent is not None:
            watch = asyncio.create_task(_exit_with_parent(server, parent))
            stack.callback(watch.cancel)
        log.info("agent.serving", url=url, home=runtime.home.name)
        _survive_signals()
        try:
            await server.serve()
        except SystemExit:  # how uvicorn ends when the application did not start, or the port is taken
            if app.failure is not None:
                raise app.failure from None
            if app.complete:
                raise SystemExit(fail(NOT_LISTENING.format(listening.host, port), EXIT_SETTINGS)) from None
            raise


def made(
    agent_class: type[BaseLangGraphAgent], runtime: AgentRuntime, default_port: int
) -> tuple[Starlette, str, int]:
    """The application of a new agent, the address that its card names, and the port where it listens.

    Raises:
        SettingsError: A setting is missing or wrong.
    """
    from utils.a2a_common.server.https import https_options

    settings = runtime.settings
    listening = settings.server
    port = default_port if listening.port is None else listening.port
    scheme = "https" if https_options(listening) else "http"
    url = listening.public_url or f"{scheme}://{listening.host}:{port}"
    agent = agent_class(runtime)
    _check_callers(agent, listening.host, settings)
    return agent_app(agent, listening, url=url), url, port


def _check_callers(agent: BaseLangGraphAgent, host: str, settings: AgentSettings) -> None:
    """Refuse an agent that others reach, unless it authenticates its callers itself or `AUTH_MODE` says who may call; not both.

    Raises:
        SettingsError: Says what to set.
    """
    from utils.a2a_common.server.http.own_middleware import NOT_COUNTED, REPLACES, authenticates

    middleware = agent.http_middleware()
    if not authenticates(middleware):
        check_exposure(host, settings.auth, NOT_COUNTED if middleware else "")
    elif settings.auth.on:
        raise SettingsError("AUTH_MODE", REPLACES)


async def _own_storage(agent: type[BaseLangGraphAgent], settings: AgentSettings, stack: AsyncExitStack) -> PostgresPool | None:  # fmt: skip
    """Make the agent's folder, or its tables in a database, this process' own.

    Raises:
        SettingsError: Another process works on it, or the database cannot be used.
        StorageError: It cannot be written.
    """
    from utils.a2a_common.server.database_command import further_tables
    from utils.persistence.postgres.opening import open_database

    in_database = settings.database.url is not None
    await _own_home(agent.name, settings.home, None if in_database else stack)
    return await open_database(
        settings.database,
        agent.name,
        stack,
        alone=not settings.engine.distributed(settings.database),
        on_lost=_stop_this_process,
        further=further_tables(agent.own_tables) if in_database else (),
    )


def _stop_this_process() -> None:
    os.kill(os.getpid(), signal.SIGTERM)


async def _own_home(name: str, settings: HomeSettings, lock: AsyncExitStack | None) -> None:
    """Make the agent's folder nobody else's to read, and lock it until `lock` is closed.

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
    """Let what follows `serve` run: uvicorn stops on these signals and then raises them once more."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: None)


async def _exit_with_parent(server: Any, parent: int) -> None:
    while os.getppid() == parent:  # noqa: ASYNC110 - the kernel sends no event for this
        await asyncio.sleep(_PARENT_SECONDS)
    log.warning("agent.parent_gone")
    server.handle_exit(signal.SIGTERM, None)


def _notice(settings: LLMSettings) -> str:
    if settings.provider is not ModelProvider.EMBEDDED:
        return ""
    from utils.llm.embedded import OFFLINE_NOTICE

    return OFFLINE_NOTICE


def fail(message: str, code: int) -> int:
    """Print one sentence to standard error and return the exit code."""
    sys.stderr.write(message + "\n")
    return code
