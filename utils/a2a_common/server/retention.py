"""Deletes conversations that nobody went on with, with all that belongs to them, while the agent runs."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import structlog

from utils.a2a_common.engine.contract import Engine
from utils.a2a_common.server.push_store import PushConfigs
from utils.a2a_common.tasks.log import TaskLog
from utils.a2a_common.tasks.turn import conversation_key
from utils.errors import StorageError
from utils.observability import catalogue
from utils.observability.metrics import count
from utils.persistence.compaction import compact
from utils.persistence.task_log_store import IdleContext

log = structlog.get_logger(__name__)

LOOK_SECONDS = 3600.0
"""Seconds between two looks for conversations to delete."""

BATCH = 50
"""Conversations that are deleted before the next look, so that a turn never waits behind many of them."""

_DAY = 86_400


@dataclass(frozen=True)
class RetentionPlan:
    """How long an agent keeps conversations, and what it deletes besides their tasks.

    Attributes:
        days: Days without a change after which a conversation is deleted.
        forget: Deletes what the agent keeps of a conversation besides its tasks and their webhooks.
        files: The SQLite files that deleted texts are removed from.
    """

    days: float
    forget: Callable[[IdleContext], Awaitable[None]]
    files: Sequence[Path] = ()


class Retention:
    """Looks from time to time. Tasks go last: while they are there, an interrupted deletion is found and repeated.

    Args:
        plan: What is deleted, and when.
        tasks: The task log.
        push_configs: The webhooks of tasks.
        engine: Whose turns are not disturbed.
        now: The time, in seconds since 1970.
    """

    def __init__(
        self,
        plan: RetentionPlan,
        tasks: TaskLog,
        push_configs: PushConfigs,
        engine: Engine,
        *,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._plan = plan
        self._tasks = tasks
        self._push_configs = push_configs
        self._engine = engine
        self._now = now
        self._work: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to look, in the background."""
        self._work = asyncio.create_task(self._look_often())

    async def stop(self) -> None:
        """End after the conversation that is being deleted, which the next start would finish. Safe to call twice."""
        if self._work is not None:
            self._work.cancel()
            await asyncio.wait([self._work])

    async def _look_often(self) -> None:
        while True:
            with suppress(StorageError):  # the storage logs it; the next look tries again
                await self.look()
            await asyncio.sleep(LOOK_SECONDS)

    async def look(self) -> int:
        """Delete what is due; return how many conversations.

        Raises:
            StorageError: The storage failed; what is left is deleted by a later look.
        """
        before = round((self._now() - self._plan.days * _DAY) * 1e9)
        deleted = 0
        while batch := await self._tasks.idle(before, BATCH):
            done = sum([await self._delete(context) for context in batch])
            deleted += done
            if done < len(batch):  # what is in use comes again with a later look
                break
        if deleted:
            log.info("retention.deleted", conversations=deleted)
            for path in self._plan.files:
                await compact(path)
        return deleted

    async def _delete(self, context: IdleContext) -> bool:
        """Delete a conversation, unless a turn of it is under way."""
        async with self._engine.at_rest(conversation_key(context.owner, context.context_id)) as rests:
            if rests:
                await self._delete_all_of(context)
        return rests

    async def _delete_all_of(self, context: IdleContext) -> None:
        await self._plan.forget(context)
        for task_id in context.task_ids:
            for config in self._push_configs.of_task(task_id, context.owner):
                await self._push_configs.delete(task_id, context.owner, config.id)
            await self._tasks.delete(task_id, context.owner)
        count(catalogue.DELETED)
