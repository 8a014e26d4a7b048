"""Deletes conversations that are old, and the oldest where there is too much, with all that belongs to them, while the agent runs."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Awaitable, Callable, Mapping

import structlog

from utils.a2a_common.engine.turn_engine import TurnEngine
from utils.a2a_common.server.deletion import Deletion, DeletionPlan
from utils.a2a_common.server.push.store import PushConfigs
from utils.a2a_common.server.retention_clock import DAY, RetentionClock
from utils.a2a_common.tasks.log import TaskLog
from utils.cancellation import end_tasks
from utils.errors import StorageError
from utils.observability import catalogue
from utils.observability.metrics import process_metrics
from utils.persistence.runs import conversation_key
from utils.persistence.task_log_store import IdleContext, Query
from utils.supervised import ItemErrors, supervised

log = structlog.get_logger(__name__)

BATCH = 50
"""Conversations that are deleted before the next look, so that a turn never waits behind many of them."""

FEW = 8
"""Conversations that are deleted first when a limit is exceeded; the number of further ones is estimated from them."""


def fullest(sizes: Mapping[str, int], limits: Mapping[str, int]) -> str | None:
    """The kind that is furthest above its limit; `None` if none is."""
    over = {kind: sizes.get(kind, 0) / limit for kind, limit in limits.items() if sizes.get(kind, 0) > limit}
    return max(over, key=over.__getitem__, default=None)


def how_many(size: int, limit: int, conversations: int, *, deleted: int = 0, freed: int = 0) -> int:
    """How many conversations to delete next.

    One of them counts as large as the average of all, or of the last batch where those were larger. What the last batch
    freed is only a lower bound: others write meanwhile.

    Args:
        size: Bytes of the kind there is too much of.
        limit: Most bytes of it.
        conversations: How many there are.
        deleted: Conversations of the last batch.
        freed: By how many bytes that batch made `size` smaller.
    """
    each = max(size / max(conversations, 1), freed / max(deleted, 1))
    return min(max(math.ceil((size - limit) / each), 1), BATCH)


def _as_async(now: Callable[[], float]) -> Callable[[], Awaitable[float | None]]:
    async def read() -> float:
        return now()

    return read


class Retention:
    """Deletes expired conversations from time to time.

    Args:
        plan: The rules of deletion.
        tasks: The task log.
        push_configs: The webhooks of tasks.
        engine: Runs the turns, whose conversations are left alone.
        now: The time, in seconds since 1970, which ages are measured by; a `RetentionClock` when omitted.
    """

    def __init__(
        self,
        plan: DeletionPlan,
        tasks: TaskLog,
        push_configs: PushConfigs,
        engine: TurnEngine,
        *,
        now: Callable[[], float] | None = None,
    ) -> None:
        self._plan = plan
        self._deletion = Deletion(plan, tasks, push_configs)
        self._tasks = tasks
        self._engine = engine
        self._now = now or time.time
        clock = RetentionClock(tasks.store.times, (plan.days or 0) * DAY)
        self._measured_now = clock.now if now is None else _as_async(now)
        self._work: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to look, in the background."""
        longest = self._plan.look_seconds
        look = supervised("retention", self._step, foreseen=(StorageError,), longest=longest)
        self._work = asyncio.create_task(look)

    async def stop(self) -> None:
        """End after the conversation that is being deleted, which the next start would finish. Safe to call twice."""
        if self._work is not None:
            await end_tasks([self._work])

    async def _step(self) -> float:
        await self.look()
        return self._plan.look_seconds

    async def look(self) -> int:
        """Delete what is due; return how many conversations.

        Raises:
            StorageError: The storage failed; what is left is deleted by a later look.
            Exception: The agent's own hook failed for a conversation. The others are deleted first.
        """
        due = _Due(self._tasks, self._delete)
        await self._delete_old(due)
        await self._make_room(due)
        if due.deleted:
            log.info("retention.deleted", conversations=due.deleted)
            await self._deletion.wipe()
        due.failures.raise_first()
        return due.deleted

    async def _delete_old(self, due: _Due) -> None:
        if self._plan.days is None:
            return
        now = await self._measured_now()
        if now is None:
            return
        before = round((now - self._plan.days * DAY) * 1e9)
        while await due.delete(before, BATCH) is not None:
            """Conversations in use, and failed ones, are tried again at a later look."""

    async def _make_room(self, due: _Due) -> None:
        """Delete the oldest ended conversations until no kind is above its limit."""
        limits, begun, done, freed = self._plan.limits, False, 0, 0
        sizes = await self._in_use()
        while kind := fullest(sizes, limits):
            there = await self._tasks.store.count_contexts()
            wanted = how_many(sizes[kind], limits[kind], there, deleted=done, freed=freed)
            most = wanted if begun else min(wanted, FEW)
            found = await due.delete(self._nanoseconds(1), most, ended=True)
            if found is None:
                log.warning("retention.still_full", kind=kind, bytes=sizes[kind], limit=limits[kind])
                break
            done, begun = found, begun or found > 0
            before, sizes = sizes[kind], await self._in_use()
            freed = before - sizes[kind]

    async def _in_use(self) -> Mapping[str, int]:
        """Bytes of each kind that has a limit, which are also in `/metrics`."""
        if not self._plan.limits:
            return {}
        sizes, counted = await self._plan.in_use(), process_metrics()
        for kind, limit in self._plan.limits.items():
            counted.set(catalogue.RETAINED, sizes.get(kind, 0), kind=kind)
            counted.set(catalogue.RETAINED_MOST, limit, kind=kind)
        return sizes

    def _nanoseconds(self, from_now: float) -> int:
        """A time, given in seconds from now."""
        return round((self._now() + from_now) * 1e9)

    async def _delete(self, context: IdleContext) -> bool:
        """Delete a conversation, unless a turn of it is under way, or it has changed since it was found."""
        async with self._engine.hold_turns(conversation_key(context.owner, context.context_id)) as held:
            due = held and await self._is_as_found(context)
            if due:
                await self._deletion.delete(context)
        return due

    async def _is_as_found(self, context: IdleContext) -> bool:
        query = Query(context.owner, context_id=context.context_id, limit=1)
        rows, _ = await self._tasks.store.page(query)
        return bool(rows) and rows[0].updated == context.updated


class _Due:
    """The deletions of one look. A conversation that is in use or fails is skipped, so that it does not block those after it.

    Attributes:
        deleted: How many conversations were deleted.
        failures: The errors of those that could not be deleted.
    """

    def __init__(self, tasks: TaskLog, delete: Callable[[IdleContext], Awaitable[bool]]) -> None:
        self._tasks = tasks
        self._delete = delete
        self._left: set[tuple[str, str]] = set()
        self.deleted = 0
        self.failures = ItemErrors()

    async def delete(self, before: int, most: int, *, ended: bool = False) -> int | None:
        """Delete the oldest conversations, as `TaskLog.idle` finds them; return how many, `None` if there are no more."""
        found = await self._tasks.idle(before, most + len(self._left), ended=ended)
        batch = [each for each in found if (each.owner, each.context_id) not in self._left][:most]
        done = 0
        for context in batch:
            self._left.add((context.owner, context.context_id))
            with self.failures.collect("retention", context_id=context.context_id):
                if await self._delete(context):
                    done += 1
                    self._left.remove((context.owner, context.context_id))
        self.deleted += done
        return done if batch else None
