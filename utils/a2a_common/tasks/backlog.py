"""`Backlog`: events that one attempt has accepted and that are not stored yet.

They are stored in order and in batches, one write at a time. Content, and statuses that do not change the state, are collected
for a moment, so that a turn needs few writes. If a write fails, the store is checked for the batch, since only the reply may have
been lost. If the batch is missing, the backlog is cleared and the writer is notified.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice

import structlog
from a2a.types.a2a_pb2 import Task, TaskStatusUpdateEvent

from utils.a2a_common.tasks.entries import Entry
from utils.a2a_common.tasks.live import LiveLog
from utils.a2a_common.tasks.states import CUT_SHORT
from utils.a2a_common.tasks.unwritten_ends import FIRST_PAUSE, LONGEST_PAUSE
from utils.errors import StorageError
from utils.persistence.task_log_store import (
    CONTENT,
    Record,
    Refusal,
    Row,
    Stored,
    TaskLogStore,
    Write,
    WriteRefused,
)
from utils.timing import backoff, wait_for

log = structlog.get_logger(__name__)

MAX_WAITING = 1024
MAX_WAITING_BYTES = 8_000_000
"""Pending events of one task, and their bytes, from which on its executor is slowed down."""

BATCH = 256
"""Largest number of events in one write."""

GATHER_SECONDS = 0.02
"""Seconds for which content, and statuses that do not change the state, are collected before they are stored. Readers in this
process see them at once, other processes this much later."""


@dataclass(slots=True, eq=False)
class PendingWrite:
    """An event, or only a row, that is to be stored.

    Attributes:
        sequence: The last event of the log with it.
        record: The event; `None` if only a row is stored.
        row: The head to store with it, if any.
        held: The entry, if readers see it only when it is stored.
        head: The head after a held entry, or after a message that joins.
        done: Resolved when it is stored; `None` if nothing waits for that.
    """

    sequence: int
    record: Record | None
    row: Row | None
    held: Entry | None = None
    head: Task | None = None
    done: asyncio.Future[None] | None = None

    @property
    def size(self) -> int:
        """Bytes of the event."""
        return len(self.record.body) if self.record is not None else 0

    @property
    def cuts_short(self) -> bool:
        """Whether it ends the task with an incomplete answer."""
        event = self.held.event if self.held is not None else None
        return isinstance(event, Task | TaskStatusUpdateEvent) and event.status.state in CUT_SHORT

    @property
    def completes(self) -> bool:
        """Whether it settles the turn with a complete answer, or with a question."""
        return self.held is not None and self.held.settles and not self.cuts_short

    @property
    def joins(self) -> bool:
        """Whether it adds a message to the task."""
        return self.record is None

    @property
    def due(self) -> bool:
        """Whether it is stored without delay: its append waits for that, or it changes the state that other processes read."""
        return self.held is not None or self.row is not None

    async def stored(self) -> None:
        """Wait until it is stored. Raises the error that is passed to `resolve`."""
        self.done = asyncio.get_running_loop().create_future()
        await self.done

    def resolve(self, error: Exception | None = None) -> None:
        """End the wait for it."""
        if self.done is not None and not self.done.done():
            if error is None:
                self.done.set_result(None)
            else:
                self.done.set_exception(error)


@dataclass(frozen=True, slots=True)
class Outcomes:
    """Callbacks for the outcome of a write.

    Attributes:
        refused: The store accepts nothing more from this attempt.
        failed: The storage failed; the pending writes are not stored.
        doubtful: The storage failed; the first of the pending writes may be stored.
        left: The backlog no longer uses the live log.
    """

    refused: Callable[[], None]
    failed: Callable[[StorageError | None], None]
    doubtful: Callable[[StorageError], None]
    left: Callable[[LiveLog], None]


class Backlog:
    """The pending writes of one writer, in order.

    Attributes:
        held: Whether one of them is visible to readers only when it is stored.
    """

    def __init__(self, live: LiveLog, attempt: int, store: TaskLogStore, outcomes: Outcomes) -> None:
        self._live = live
        self._attempt = attempt
        self._store = store
        self._outcomes = outcomes
        self._waiting: deque[PendingWrite] = deque()
        self._bytes = 0
        self._due = asyncio.Event()
        self.held = False

    @property
    def full(self) -> bool:
        """Whether the executor should wait."""
        return len(self._waiting) >= MAX_WAITING or self._bytes >= MAX_WAITING_BYTES

    def content(self) -> list[Record]:
        """Content that readers see and that is not stored yet, in order."""
        records = (item.record for item in self._waiting if item.held is None)
        return [record for record in records if record is not None and record.kind in CONTENT]

    def add(self, item: PendingWrite) -> None:
        """Append a write; it is stored after all before it."""
        self._waiting.append(item)
        self._bytes += item.size
        self.held = self.held or item.held is not None
        if item.due or len(self._waiting) >= BATCH or self.full:
            self._due.set()
        if self._live.storing is None:
            self._live.users += 1
            self._live.storing = asyncio.create_task(self._run())

    def waiting(self) -> list[PendingWrite]:
        """All pending writes."""
        return list(self._waiting)

    def clear(self) -> list[PendingWrite]:
        """Remove and return all pending writes."""
        waiting = list(self._waiting)
        self._waiting.clear()
        self._bytes = 0
        self._due.set()
        self.held = False
        return waiting

    async def _run(self) -> None:
        try:
            while await self._gathered():
                batch = list(islice(self._waiting, BATCH))
                if len(batch) == len(self._waiting):
                    self._due.clear()
                await self._store_batch(batch)
        except Exception:  # a background task: what is not stored ends the task
            log.exception("task_log.crashed", task_id=self._live.task_id)
            self._outcomes.failed(None)
        finally:
            self._live.storing = None
            self._outcomes.left(self._live)

    async def _gathered(self) -> bool:
        """Collect writes for `GATHER_SECONDS` unless one is due; return whether there are any."""
        if self._waiting:
            await wait_for(self._due, GATHER_SECONDS)
        return bool(self._waiting)

    async def _store_batch(self, batch: list[PendingWrite]) -> None:
        write = self._write(batch)
        try:
            await self._store.append(write)
        except WriteRefused as refused:
            if refused.refusal in {Refusal.GAP, Refusal.MISSING}:
                self._outcomes.failed(None)
            else:
                self._outcomes.refused()
            return
        except StorageError as error:
            if not await self._is_stored(write, batch, error):
                return
        self._stored(batch)

    def _write(self, batch: list[PendingWrite]) -> Write:
        rows = [item.row for item in batch if item.row is not None]
        return Write(
            task_id=self._live.task_id,
            owner=self._live.owner,
            attempt=self._attempt,
            after=self._live.stored,
            records=tuple(item.record for item in batch if item.record is not None),
            row=rows[-1] if rows else None,
        )

    def _stored(self, batch: list[PendingWrite]) -> None:
        for item in batch:
            self._waiting.popleft()
            self._bytes -= item.size
        self._live.store(max(self._live.stored, batch[-1].sequence))
        for item in batch:
            if item.held is not None:
                self.held = False
                self._live.publish(item.held, item.size, item.head)
            elif item.head is not None:
                self._live.join(item.head)
            item.resolve()

    async def _is_stored(self, write: Write, batch: list[PendingWrite], error: StorageError) -> bool:
        """Whether a write that failed is stored all the same; if not, notify the writer.

        If the store cannot be read, the write counts as failed, unless it completes the answer: then this waits for the store.
        """
        failed = 0
        while True:
            try:
                stored = await self._store.look(write.task_id, write.owner)
                break
            except StorageError:
                if not batch[-1].completes:
                    self._outcomes.doubtful(error)
                    return False
                failed += 1
                await asyncio.sleep(backoff(failed, first=FIRST_PAUSE, longest=LONGEST_PAUSE))
        if stored is None or stored.attempt != self._attempt:
            self._outcomes.refused()
            return False
        if not _holds(stored, write):
            self._outcomes.failed(error)
            return False
        return True


def _holds(stored: Stored, write: Write) -> bool:
    """Whether the store has a write."""
    if write.records:
        return stored.last >= write.records[-1].sequence
    return stored.row is not None and write.row is not None and stored.row.body == write.row.body
