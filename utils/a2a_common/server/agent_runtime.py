"""Builds the runtime that an agent gets when its process starts: its model, its stores and its settings."""

from __future__ import annotations

from contextlib import AsyncExitStack
from dataclasses import replace
from typing import TYPE_CHECKING

import structlog

from utils.a2a_common.graph.runtime import AgentRuntime
from utils.persistence.settings import DatabaseSettings, Store
from utils.persistence.sqlite_file import MemoryFolder
from utils.settings import LLMSettings, ModelProvider

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from utils.a2a_common.graph.settings import AgentSettings
    from utils.persistence.postgres.pool import PostgresPool

log = structlog.get_logger(__name__)


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
    from utils.persistence.encrypted.shared_keys import SharedKeys
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
        shared_keys=SharedKeys(codec, database) if database is not None else None,
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


def _notice(settings: LLMSettings) -> str:
    if settings.provider is not ModelProvider.EMBEDDED:
        return ""
    from utils.llm.embedded import OFFLINE_NOTICE

    return OFFLINE_NOTICE
