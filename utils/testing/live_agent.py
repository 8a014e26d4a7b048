"""A real agent on a real server, on a free loopback port, in the test's own event loop."""

from __future__ import annotations

import socket
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from utils.a2a_common.graph.settings import AgentSettings
from utils.a2a_common.server.agent_app import agent_app
from utils.a2a_common.server.agent_runtime import open_runtime
from utils.a2a_common.server.commands.database import further_tables
from utils.a2a_common.server.http.https import https_options
from utils.persistence.postgres.opening import open_database
from utils.testing.live_server import loopback_socket, running

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from utils.a2a_common.base_langgraph_agent import BaseLangGraphAgent


@asynccontextmanager
async def running_agent(
    agent_class: type[BaseLangGraphAgent],
    *,
    environ: Mapping[str, str] | None = None,
    model: BaseChatModel | None = None,
    home: Path | None = None,
    listener: socket.socket | None = None,
) -> AsyncIterator[str]:
    """Serve an agent as its own process would, and yield its URL.

    Args:
        agent_class: The agent.
        environ: Its settings; the defaults where omitted.
        model: Replaces the chat model of the settings.
        home: Data folder; a temporary one when omitted.
        listener: A listening socket, when the port matters.
    """
    async with AsyncExitStack() as stack:
        if home is None:
            home = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        listener = stack.enter_context(listener or loopback_socket())
        variables = {"PLATFORM_ENGINEER_HOME": str(home), **(environ or {})}
        https = https_options(AgentSettings.load(variables).server)
        url = f"{'https' if https else 'http'}://127.0.0.1:{listener.getsockname()[1]}"
        settings = AgentSettings.load({**variables, "PUBLIC_URL": url})
        database = await open_database(
            settings.database,
            agent_class.name,
            stack,
            alone=not settings.engine.distributed(settings.database),
            on_lost=_nothing,
            further=further_tables(agent_class.own_tables),
        )
        runtime = await open_runtime(agent_class.name, settings, stack, model=model, database=database)
        app = agent_app(agent_class(runtime), settings.server, url=url)
        yield await stack.enter_async_context(running(app, listener=listener, https=https))


def _nothing(_reason: str) -> None:
    """A test would see that the agent stops."""
