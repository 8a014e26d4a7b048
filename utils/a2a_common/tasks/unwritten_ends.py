"""`UnwrittenEnds`: stores ends of tasks that could not be stored at first, with retries."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

import structlog

from utils.cancellation import end_tasks
from utils.errors import StorageError
from utils.persistence.task_log_store import Refusal, TaskLogStore, Write, WriteRefused
from utils.supervised import ItemErrors, supervised
from utils.timing import backoff, wait_for

log = structlog.get_logger(__name__)

FIRST_PAUSE, LONGEST_PAUSE = 0.2, 30.0
"""Bounds of the pause between two tries in seconds; it doubles. A request for such a task starts a try at once."""


@dataclass(frozen=True, slots=True)
class UnwrittenEnd:
    """The end of a task; or the task as it was before a rejected message that may be stored all the same.

    Attributes:
        write: The write to the store.
        stored: Called when it is stored.
        dropped: Called when it never will be: another attempt runs the task, the store has another end, or the task is gone.
    """

    write: Write
    stored: Callable[[], None]
    dropped: Callable[[], None]


@dataclass(frozen=True, slots=True)
class UnseenEnd(UnwrittenEnd):
    """The end of a task whose first event no reader has seen, because it is unknown whether that is stored.

    Attributes:
        show: Shows readers the task and its end; called with the sequence number of its last stored event.
    """

    show: Callable[[int], None]


class UnwrittenEnds:
    """The ends to store, by task."""

    def __init__(self, store: TaskLogStore) -> None:
        self._store = store
        self._ends: dict[str, UnwrittenEnd] = {}
        self._again = asyncio.Event()
        self._tries = 0
        self._work: asyncio.Task[None] | None = None

    def keep(self, end: UnwrittenEnd) -> None:
        """Keep the end of a task, and start to store it."""
        log.warning("task.end_not_stored", task_id=end.write.task_id)
        self._ends[end.write.task_id] = end
        self._again.set()
        if self._work is None or self._work.done():
            self._tries = 0
            work = supervised("unwritten_ends", self._step, self._pause, longest=LONGEST_PAUSE)
            self._work = asyncio.create_task(work)

    def retry_now(self, task_id: str) -> None:
        """Retry now if the end of this task is not stored yet, because the task is requested."""
        if task_id in self._ends:
            self._again.set()

    def unseen(self, task_id: str) -> UnseenEnd | None:
        """The unseen end of a task; `None` if it has none."""
        end = self._ends.get(task_id)
        return end if isinstance(end, UnseenEnd) else None

    async def settle(self, task_id: str) -> None:
        """Store the pending end of this task now, if there is one.

        Raises:
            StorageError: It still cannot be stored.
        """
        end = self._ends.get(task_id)
        if end is not None:
            await self._store_one(end)

    async def close(self) -> None:
        """Try each once more. The next start ends the tasks whose end cannot be stored now."""
        if self._work is not None:
            await end_tasks([self._work])
        await self._try_all()

    async def _step(self) -> float | None:
        self._tries += 1
        self._again.clear()
        await self._try_all()
        return backoff(self._tries, first=FIRST_PAUSE, longest=LONGEST_PAUSE) if self._ends else None

    async def _pause(self, seconds: float) -> None:
        await wait_for(self._again, seconds)

    async def _try_all(self) -> None:
        """Try all concurrently, so that they wait for a lock together and a failed one does not delay the others."""
        failures = ItemErrors()
        await asyncio.gather(*(self._try_one(end, failures) for end in list(self._ends.values())))
        failures.raise_first()

    async def _try_one(self, end: UnwrittenEnd, failures: ItemErrors) -> None:
        with failures.collect("unwritten_ends", task_id=end.write.task_id), suppress(StorageError):
            await self._store_one(end)

    async def _store_one(self, end: UnwrittenEnd) -> None:
        task_id, over = end.write.task_id, end.stored
        try:
            await self._store.append(end.write)
        except WriteRefused as refused:
            if refused.refusal != Refusal.ENDED or not await self._is_this(end.write):
                log.info("task.end_dropped", task_id=task_id, reason=refused.refusal.value)
                over = end.dropped
        else:
            log.info("task.end_written", task_id=task_id)
        if self._ends.get(task_id) is end:
            del self._ends[task_id]
            over()

    async def _is_this(self, write: Write) -> bool:
        """Whether the stored end is this one, whose confirmation was lost."""
        if not write.records:  # a message to remove: the task has ended meanwhile
            return False
        stored = await self._store.look(write.task_id, write.owner)
        return stored is not None and stored.last == write.records[-1].sequence
