"""Deletes conversations that nobody went on with, with all that belongs to them, while the agent runs."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress

import structlog

from utils.a2a_common.engine.contract import Engine
from utils.a2a_common.server.deletion import Deletion, DeletionPlan
from utils.a2a_common.server.push_store import PushConfigs
from utils.a2a_common.tasks.log import TaskLog
from utils.a2a_common.tasks.turn import conversation_key
from utils.errors import StorageError
from utils.persistence.task_log_store import IdleContext

log = structlog.get_logger(__name__)

LOOK_SECONDS = 3600.0
"""Seconds between two looks for conversations to delete."""

BATCH = 50
"""Conversations that are deleted before the next look, so that a turn never waits behind many of them."""

_DAY = 86_400


class Retention:
    """Looks from time to time.

    Args:
        plan: What is deleted, and when.
        tasks: The task log.
        push_configs: The webhooks of tasks.
        engine: Whose turns are not disturbed.
        now: The time, in seconds since 1970.
    """

    def __init__(
        self,
        plan: DeletionPlan,
        tasks: TaskLog,
        push_configs: PushConfigs,
        engine: Engine,
        *,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._days = plan.days
        self._deletion = Deletion(plan, tasks, push_configs)
        self._tasks = tasks
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
        if self._days is None:
            return 0
        before = round((self._now() - self._days * _DAY) * 1e9)
        deleted = 0
        while batch := await self._tasks.idle(before, BATCH):
            done = sum([await self._delete(context) for context in batch])
            deleted += done
            if done < len(batch):  # what is in use comes again with a later look
                break
        if deleted:
            log.info("retention.deleted", conversations=deleted)
            await self._deletion.wipe()
        return deleted

    async def _delete(self, context: IdleContext) -> bool:
        """Delete a conversation, unless a turn of it is under way."""
        async with self._engine.at_rest(conversation_key(context.owner, context.context_id)) as rests:
            if rests:
                await self._deletion.delete(context)
        return rests
