"""`--check`: whether an agent could be started with its settings, checked by a start without opening stores, reading data or listening."""

from __future__ import annotations

import json
import sys
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from utils.a2a_common.graph.settings import AgentSettings
from utils.a2a_common.server.agent_app import made
from utils.a2a_common.server.agent_runtime import open_runtime
from utils.auth.authenticator import KEYS
from utils.errors import PlatformError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from utils.a2a_common.base_langgraph_agent import BaseLangGraphAgent

CHECKED = "checked"
"""Key of the verdict, one JSON object on a line of standard output: the agent, and under `wrong` what keeps it from starting."""


async def check_start(
    agent_class: type[BaseLangGraphAgent], environ: Mapping[str, str], default_port: int
) -> None:
    """Print the verdict.

    Raises:
        PlatformError: The agent cannot be started.
    """
    try:
        await _try(agent_class, AgentSettings.load(environ), default_port)
    except PlatformError as error:
        _print_verdict(agent_class.name, error.message)
        raise
    _print_verdict(agent_class.name, "")


async def _try(agent_class: type[BaseLangGraphAgent], settings: AgentSettings, default_port: int) -> None:
    """Do what a start does with the settings, in an empty folder: a running agent may be using the real one."""
    from utils.a2a_common.graph.middleware_stack import structured_calls
    from utils.a2a_common.server.grpc.credentials import server_credentials

    settings.engine.distributed(settings.database)
    server_credentials(settings.server)
    structured_calls(settings)
    with TemporaryDirectory() as folder:
        async with AsyncExitStack() as stack:
            runtime = await open_runtime(agent_class.name, _apart(settings, Path(folder)), stack)
            made(agent_class, runtime, default_port)


def _apart(settings: AgentSettings, folder: Path) -> AgentSettings:
    """The settings, changed so that everything is stored in `folder`."""
    keys = settings.auth.keys_file or settings.home.home / KEYS
    return replace(
        settings,
        home=settings.home.model_copy(update={"home": folder}),
        auth=settings.auth.model_copy(update={"keys_file": keys}),
        database=settings.database.model_copy(update={"store": None, "url": None}),
        engine=settings.engine.model_copy(update={"engine": None}),
    )


def _print_verdict(agent: str, wrong: str) -> None:
    sys.stdout.write(json.dumps({CHECKED: agent, "wrong": wrong}) + "\n")
    sys.stdout.flush()
