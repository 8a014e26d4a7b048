"""`Sweeper`: requeues turns that no replica runs: those of dead replicas, and those that are stored but not in the queue.

It also reports how many turns wait, over all replicas.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import structlog

from utils.a2a_common.engine.recovery import UNREADABLE, Recovery
from utils.a2a_common.tasks.log import TaskLog
from utils.cancellation import end_tasks
from utils.errors import StorageError
from utils.observability import catalogue
from utils.observability.metrics import process_metrics
from utils.persistence.runs import RunStore
from utils.supervised import ItemErrors, supervised

if TYPE_CHECKING:
    from utils.a2a_common.engine.turn_queue import TurnQueue

log = structlog.get_logger(__name__)

STRAY_SECONDS = 10.0
"""Seconds between two checks for turns that are not in the queue. One that is missing in both is not just being accepted."""

GRACE_SECONDS = 2.5
"""Seconds after an outage of the database in which no worker counts as dead: a living one sends two heartbeats meanwhile."""


class Sweeper:
    """Sweeps periodically; one replica at a time.

    Args:
        queue: The queue.
        tasks: The task log.
        runs: The turns that were accepted.
        recovery: Finds those to resume, and ends the others.
    """

    def __init__(self, queue: TurnQueue, tasks: TaskLog, runs: RunStore, recovery: Recovery) -> None:
        self._queue = queue
        self._tasks = tasks
        self._runs = runs
        self._recovery = recovery
        self._suspects: set[str] = set()
        self._unreadable: set[str] = set()
        self._grace_until = 0.0
        self._next_strays = 0.0
        self._pause = queue.stalled_seconds / 7
        self._work: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to sweep, in the background."""
        self._next_strays = asyncio.get_running_loop().time() + STRAY_SECONDS
        work = supervised("sweeper", self._sweep, after=self._pause, first=self._pause, longest=STRAY_SECONDS)
        self._work = asyncio.create_task(work)

    async def stop(self) -> None:
        """Stop sweeping. Safe to call twice."""
        if self._work is not None:
            await end_tasks([self._work])

    async def _sweep(self) -> float:
        loop = asyncio.get_running_loop()
        began = loop.time()
        strays = began >= self._next_strays
        if strays:
            self._next_strays = began + STRAY_SECONDS
        try:
            process_metrics().set(catalogue.WAITING, await self._queue.waiting())
            await self._sweep_once(began, strays=strays)
        except StorageError:  # the storage logs it; after it, no worker counts as dead for a while
            self._grace_until = loop.time() + GRACE_SECONDS
        return self._pause

    async def _sweep_once(self, began: float, *, strays: bool) -> None:
        async with self._queue.sweeping() as acquired:
            if not acquired:
                self._suspects.clear()
                return
            now = asyncio.get_running_loop().time()
            if (
                now - began >= self._queue.stalled_seconds / 2
            ):  # the heartbeats of other workers are delayed as well
                self._grace_until = now + GRACE_SECONDS
            if now >= self._grace_until:
                for task_id in await self._queue.requeue_stalled():
                    log.warning("turn.put_back", task_id=task_id)
            if strays:
                await self._requeue_strays()
                await self._queue.clear()

    async def _requeue_strays(self) -> None:
        """Requeue or end accepted turns that are not in the queue: their replica died while it accepted them, or its storage failed."""
        open_tasks = await self._tasks.unfinished()
        rows = {row.task_id: row for row in await self._runs.rows()}
        queued = await self._queue.all_tasks()
        tasks = {task_id: owner for task_id, owner in open_tasks if task_id not in rows}
        self._unreadable &= tasks.keys()
        strays = (rows.keys() | tasks.keys()) - queued - self._unreadable
        failures = ItemErrors()
        for task_id in sorted(strays & self._suspects):
            log.warning("turn.stray", task_id=task_id)
            with failures.collect("sweeper", task_id=task_id):
                if task_id not in rows:
                    await self._end(task_id, tasks[task_id])
                elif await self._recovery.turn_of(rows[task_id]) is not None:
                    await self._queue.restore(task_id, rows[task_id].conversation)
        self._suspects = strays
        failures.raise_first()

    async def _end(self, task_id: str, owner: str) -> None:
        """End a task that has no turn. One that cannot be read stays open, and this process does not try it again."""
        try:
            await self._recovery.fail(task_id, owner, None)
        except UNREADABLE:
            self._unreadable.add(task_id)
