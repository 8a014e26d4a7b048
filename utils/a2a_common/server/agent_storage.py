"""The parts of an agent's storage: webhooks, the queue of turns, sizes, and the deletion of conversations."""

from __future__ import annotations

import asyncio
import shutil
from functools import partial
from typing import TYPE_CHECKING

from utils.a2a_common.engine.local import nobody_else
from utils.persistence.files import StoreFile

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from utils.a2a_common.base_langgraph_agent import BaseLangGraphAgent
    from utils.a2a_common.engine.local import Hold
    from utils.a2a_common.engine.turn_queue import TurnQueue
    from utils.a2a_common.graph.runtime import AgentRuntime
    from utils.a2a_common.protocol.conversations import Kept
    from utils.a2a_common.server.deletion import DeletionPlan
    from utils.a2a_common.server.push.store import PushConfigs
    from utils.auth.used_tokens import UsedTokens
    from utils.persistence.task_log_store import IdleContext

CONVERSATION_FILES = tuple(
    file for file in StoreFile if file not in (StoreFile.CARDS, StoreFile.AUTHORISATIONS)
)
"""Files of an agent's folder with text of users or agents: all but those named here, so that a new file is included."""


async def stored_sizes(runtime: AgentRuntime) -> Mapping[str, int]:
    """How many bytes an agent has stored, by kind.

    Raises:
        StorageError: The database cannot be asked.
    """
    from utils.persistence.sizes import sizes_of_files, sizes_of_tables

    if runtime.memory is not None:
        return runtime.memory.sizes()
    files = await asyncio.to_thread(sizes_of_files, runtime.home)
    return files | (await sizes_of_tables(runtime.database) if runtime.database is not None else {})


def free_bytes(runtime: AgentRuntime) -> Callable[[], int] | None:
    """A function that gives the free bytes of the agent's volume; `None` if it stores its data in a database or in memory."""
    if runtime.memory is not None or runtime.database is not None:
        return None
    return lambda: shutil.disk_usage(runtime.home).free


async def bytes_in_use(runtime: AgentRuntime, limits: Mapping[str, int]) -> Mapping[str, int]:
    """How many bytes an agent uses of each kind that has a limit.

    Raises:
        StorageError: The database cannot be asked.
    """
    from utils.persistence.in_use import in_use_of_files, in_use_of_tables

    if runtime.memory is not None:
        return runtime.memory.in_use(tuple(limits))
    if runtime.database is not None:
        return await in_use_of_tables(runtime.database, limits)
    return await asyncio.to_thread(in_use_of_files, runtime.home, tuple(limits))


def turn_queue(runtime: AgentRuntime) -> TurnQueue | None:
    """The queue that all replicas of the agent share; `None` with a single process."""
    settings = runtime.settings
    if runtime.database is None or not settings.engine.distributed(settings.database):
        return None
    from utils.a2a_common.engine.postgres_queue_tables import PostgresQueueTables
    from utils.a2a_common.engine.procrastinate_queue import ProcrastinateQueue

    return ProcrastinateQueue(
        PostgresQueueTables(runtime.database),
        at_once=settings.server.max_concurrent_turns,
        takeover_seconds=settings.engine.takeover_seconds,
        grace=settings.server.shutdown_grace_seconds,
        fit=runtime.shared_keys.fit if runtime.shared_keys is not None else None,
    )


def hold(runtime: AgentRuntime) -> Hold:
    """Keeps commands from a conversation that a single process brings to rest: files are not changed beside it, a database is."""
    database = runtime.database
    if database is None:
        return nobody_else
    from utils.persistence.postgres.names import hold_lock
    from utils.persistence.postgres.turn_hold import held_if_free

    return lambda conversation: held_if_free(database, hold_lock(database.schema, conversation))


def used_tokens(runtime: AgentRuntime) -> UsedTokens | None:
    """The service tokens that the replicas of the agent have accepted; `None` with a single process."""
    if runtime.database is None:
        return None
    from utils.persistence.postgres.used_tokens import PostgresUsedTokens

    return PostgresUsedTokens(runtime.database)


def push_configs(runtime: AgentRuntime) -> PushConfigs:
    """The webhooks of an agent's tasks."""
    if runtime.database is not None:
        from utils.a2a_common.server.push.store_postgres import PostgresPushConfigs

        return PostgresPushConfigs(runtime.database, runtime.codec)
    from utils.a2a_common.server.push.store import SqlitePushConfigs

    return SqlitePushConfigs(runtime.folder / StoreFile.PUSH, runtime.codec)


def deletion_plan(agent: BaseLangGraphAgent) -> DeletionPlan:
    """How the agent deletes conversations, and when it does so automatically."""
    from utils.a2a_common.execution.request_parser import stored_thread_id
    from utils.a2a_common.server.deletion import DeletionPlan

    async def forget(idle: IdleContext) -> None:
        thread_id = stored_thread_id(agent.name, idle.owner, idle.context_id)
        await agent.delete_conversation(thread_id, idle.task_ids)

    async def below(idle: IdleContext) -> Sequence[Kept]:
        return await agent.delete_below(stored_thread_id(agent.name, idle.owner, idle.context_id))

    in_files = agent.runtime.database is None and agent.runtime.memory is None
    files = [agent.runtime.home / name for name in CONVERSATION_FILES] if in_files else []
    settings = agent.runtime.settings.retention
    return DeletionPlan(
        forget,
        below,
        files,
        agent.runtime.stores.titles(),
        settings.days or None,
        limits=settings.limits,
        in_use=partial(bytes_in_use, agent.runtime, settings.limits),
        look_seconds=settings.look_seconds,
    )
