"""Deletes a conversation: everything that an agent stores of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import structlog

from utils.a2a_common.protocol.conversations import Kept
from utils.a2a_common.server.push.store import PushConfigs
from utils.a2a_common.tasks.log import TaskLog
from utils.errors import StorageError
from utils.observability import catalogue
from utils.observability.metrics import count
from utils.persistence.compaction import compact
from utils.persistence.task_log_store import IdleContext
from utils.persistence.titles import MemoryTitles, Titles

log = structlog.get_logger(__name__)


async def no_agents_below(_context: IdleContext) -> Sequence[Kept]:
    """The answer of an agent that delegates nothing."""
    return ()


async def nothing_in_use() -> Mapping[str, int]:
    """The bytes of an agent without limits."""
    return {}


@dataclass(frozen=True)
class DeletionPlan:
    """How an agent deletes conversations.

    Attributes:
        forget: Deletes what the agent stores of a conversation besides its tasks, their webhooks and its title.
        below: Has a conversation deleted at the agents behind this one; returns those that still have data of it.
        files: The SQLite files that deleted texts are removed from.
        titles: The titles of conversations.
        days: Days without a change after which a conversation is deleted automatically; never if `None`.
        limits: Most bytes of each kind, above which the oldest ended conversations are deleted automatically.
        in_use: Bytes of each kind that has a limit.
        look_seconds: Seconds between two looks for conversations that are deleted by themselves.
    """

    forget: Callable[[IdleContext], Awaitable[None]]
    below: Callable[[IdleContext], Awaitable[Sequence[Kept]]] = no_agents_below
    files: Sequence[Path] = ()
    titles: Titles = field(default_factory=MemoryTitles)
    days: float | None = None
    limits: Mapping[str, int] = field(default_factory=dict)
    in_use: Callable[[], Awaitable[Mapping[str, int]]] = nothing_in_use
    look_seconds: float = 600.0

    @property
    def by_itself(self) -> bool:
        """Whether conversations are deleted automatically."""
        return bool(self.days or self.limits)


class Deletion:
    """Deletes conversations whose turns are held. Tasks go last: while they are there, an interrupted deletion is repeated.

    Args:
        plan: The rules of deletion.
        tasks: The task log.
        push_configs: The webhooks of tasks.
    """

    def __init__(self, plan: DeletionPlan, tasks: TaskLog, push_configs: PushConfigs) -> None:
        self._plan = plan
        self._tasks = tasks
        self._push_configs = push_configs

    async def below(self, context: IdleContext) -> Sequence[Kept]:
        """Have a conversation deleted at the agents behind this one.

        Returns:
            The agents that still have data of it.

        Raises:
            StorageError: It is not known what they have.
        """
        return await self._plan.below(context)

    async def delete(self, context: IdleContext) -> None:
        """Delete everything of a conversation here.

        Raises:
            StorageError: Something could not be deleted; the same call again finishes it.
        """
        await self._plan.forget(context)
        await self._plan.titles.put(context.owner, context.context_id, "")
        for task_id in context.task_ids:
            for config in self._push_configs.of_task(task_id, context.owner):
                await self._push_configs.delete(task_id, context.owner, config.id)
            await self._tasks.delete(task_id, context.owner)
        count(catalogue.DELETED)

    async def wipe(self) -> None:
        """Rewrite the database files without the deleted data. Even if this fails, SQLite has overwritten that data in place."""
        for path in self._plan.files:
            try:
                await compact(path)
            except StorageError as error:
                log.warning("deletion.file_not_rewritten", file=path.name, code=error.code)
