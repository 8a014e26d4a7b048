"""The application of an agent: its card, and its parts for the server."""

from __future__ import annotations

from contextlib import AsyncExitStack
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from utils.a2a_common.server.agent_storage import (
    deletion_plan,
    free_bytes,
    hold,
    push_configs,
    stored_sizes,
    turn_queue,
    used_tokens,
)
from utils.auth.exposure import check_exposure
from utils.errors import SettingsError
from utils.net.addresses import http_url

if TYPE_CHECKING:
    from collections.abc import Sequence

    from a2a.types.a2a_pb2 import AgentCard
    from starlette.applications import Starlette

    from utils.a2a_common.base_langgraph_agent import BaseLangGraphAgent
    from utils.a2a_common.graph.runtime import AgentRuntime
    from utils.a2a_common.graph.settings import AgentSettings
    from utils.a2a_common.protocol.readiness import Readiness
    from utils.settings import ServerSettings


def made(
    agent_class: type[BaseLangGraphAgent], runtime: AgentRuntime, default_port: int
) -> tuple[Starlette, str, int]:
    """The application of a new agent, the address on its card, and its port.

    Raises:
        SettingsError: A setting is missing or wrong.
    """
    from utils.a2a_common.server.http.https import https_options

    settings = runtime.settings
    listening = settings.server
    port = default_port if listening.port is None else listening.port
    scheme = "https" if https_options(listening) else "http"
    url = listening.public_url or http_url(listening.host, port, scheme)
    agent = agent_class(runtime)
    _check_callers(agent, listening.host, settings)
    return agent_app(agent, listening, url=url), url, port


def _check_callers(agent: BaseLangGraphAgent, host: str, settings: AgentSettings) -> None:
    """Refuse an agent that is reachable from other machines, unless either it authenticates its callers itself or `AUTH_MODE` does.

    Raises:
        SettingsError: Names the setting.
    """
    from utils.a2a_common.server.http.own_middleware import NOT_COUNTED, REPLACES, authenticates

    middleware = agent.http_middleware()
    if not authenticates(middleware):
        check_exposure(host, settings.auth, NOT_COUNTED if middleware else "")
    elif settings.auth.on:
        raise SettingsError("AUTH_MODE", REPLACES)


def agent_card(agent: BaseLangGraphAgent, url: str) -> AgentCard:
    """The card of an agent that is reached at `url`."""
    from utils.a2a_common.server.card import build_card, with_matched_answers, with_read_only
    from utils.a2a_common.server.card_security import with_credentials
    from utils.llm.factory import describe_model

    options = with_credentials(agent.card_options(), agent.name, agent.runtime.settings.auth)
    if agent.only_reads:
        options = with_read_only(options)
    return build_card(
        name=agent.name,
        description=agent.description,
        skills=agent.offered_skills,
        version=version_of(type(agent)),
        url=url,
        model=describe_model(agent.runtime.settings.llm),
        input_modes=_input_modes(agent),
        output_modes=agent.output_modes,
        options=with_matched_answers(options, type(agent)),
    )


def _input_modes(agent: BaseLangGraphAgent) -> Sequence[str]:
    """The agent's declared media types; if it declares none, also those of the files that its model reads."""
    from utils.a2a_common.protocol.media_modes import INPUT_MODES
    from utils.llm.inputs import file_types

    if agent.input_modes != INPUT_MODES:
        return agent.input_modes
    return (*INPUT_MODES, *file_types(agent.runtime.model))


def version_of(agent_class: type[BaseLangGraphAgent]) -> str:
    """The version on the card: the agent's own, or that of this project."""
    from utils.version import project_version

    return agent_class.version or project_version()


def agent_app(agent: BaseLangGraphAgent, settings: ServerSettings, *, url: str) -> Starlette:
    """The application of an agent that is reached at `url`."""
    from utils.a2a_common.handler.consent import Consent
    from utils.a2a_common.server.agent_service import AgentService
    from utils.a2a_common.server.app import build_app
    from utils.a2a_common.server.http.page_login import page_login
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
        async with AsyncExitStack() as stack:  # an agent whose start failed is not stopped elsewhere
            stack.push_async_callback(agent.close)
            await agent.build()
            stack.pop_all()

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
        free_bytes=free_bytes(agent.runtime),
        queue=turn_queue(agent.runtime),
        hold=hold(agent.runtime),
        consent=Consent(agent.runtime.answer_key(), agent.name),
        authenticator=authenticator_for(
            agent.name, auth, agent.runtime.settings.home.home, used_tokens(agent.runtime)
        ),
        url=url,
    )
    return build_app(service, settings)


async def _readiness(agent: BaseLangGraphAgent) -> Readiness:
    """The content of `/readyz`: the agent's readiness, and which tools of its MCP servers are unavailable."""
    state = await agent.readiness()
    return replace(state, detail="; ".join(filter(None, [state.detail, agent.mcp_note])))
