"""The writer of a task's log: one attempt to run its turn.

Events wait in a line and are stored in batches, one after the other; readers see most of them before. The first task
and an event that settles the turn are seen only when they and all before them are stored. A batch that cannot be stored
ends this attempt and its task, and no other.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import islice

import structlog
from a2a.server.events.event_queue import Event
from a2a.types.a2a_pb2 import Message, Task, TaskStatusUpdateEvent

from utils.a2a_common.tasks.ends import FIRST_PAUSE, LONGEST_PAUSE, UnwrittenEnd, UnwrittenEnds
from utils.a2a_common.tasks.entries import Entry, Fenced, Suspended
from utils.a2a_common.tasks.event_codec import record_of
from utils.a2a_common.tasks.heads import row_of
from utils.a2a_common.tasks.live import Cut, LiveLog
from utils.a2a_common.tasks.states import CUT_SHORT
from utils.a2a_common.tasks.storage_end import SENTENCE, storage_end
from utils.a2a_common.tasks.transitions import Applied, Refused, apply, begin, join_history, replay
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

log = structlog.get_logger(__name__)

MAX_WAITING = 1024
MAX_WAITING_BYTES = 8_000_000
"""Events of one task that may wait to be stored before its executor is slowed down."""

BATCH = 256
"""Largest number of events in one write."""

NUMBERS = 2**32
"""Sequence numbers that one attempt may use. Each attempt after the first event has its own, so that a reader that saw an
event which was never stored does not take the event of a later attempt for it."""

FENCED, STORAGE, SUSPENDED = "fenced", "storage", "suspended"


@dataclass(slots=True, eq=False)
class _Waiting:
    """An event, or a row alone, that waits to be stored.

    Attributes:
        sequence: The last event of the log with it.
        record: The event; `None` for a row alone.
        row: The head to store with it, if any.
        held: The entry, where readers see it only when it is stored.
        head: The head after a held entry.
        done: Resolved when it is stored, for the one who waits for it.
    """

    sequence: int
    record: Record | None
    row: Row | None
    held: Entry | None = None
    head: Task | None = None
    done: asyncio.Future[None] | None = None

    @property
    def size(self) -> int:
        return len(self.record.body) if self.record is not None else 0

    def resolve(self, error: Exception | None = None) -> None:
        if self.done is not None and not self.done.done():
            if error is None:
                self.done.set_result(None)
            else:
                self.done.set_exception(error)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a writer needs of its log.

    Attributes:
        store: Where events are stored.
        ends: Ends that could not be stored.
        clock: Seconds since 1970.
        leave: Called with the live log when a user of it is done.
        detach: Called with the live log when another process writes it.
    """

    store: TaskLogStore
    ends: UnwrittenEnds
    clock: Callable[[], float]
    leave: Callable[[LiveLog], None]
    detach: Callable[[LiveLog], None]


class TaskWriter:
    """Appends the events of one attempt.

    Attributes:
        attempt: Number of the attempt. A later one fences this off.
        lost: Set when nothing more can be written.
        reason: Why: `fenced`, `storage` or `suspended`; empty before.
        head: The task as far as it is written, without the parts of its artifacts. Do not change it.
    """

    def __init__(self, live: LiveLog, attempt: int, around: Surroundings) -> None:
        self.attempt = attempt
        self.lost = asyncio.Event()
        self.reason = ""
        self.head = live.head
        self._live = live
        self._around = around
        self._progress = begin(live.task_id, live.head)
        self._last = live.last
        self._numbers_from = attempt * NUMBERS if live.last else 0
        self._lock = asyncio.Lock()
        self._waiting: deque[_Waiting] = deque()
        self._bytes = 0
        self._held = False
        self._failure = StorageError(SENTENCE)

    @property
    def settled(self) -> bool:
        """Whether the turn has its terminal or interrupted status, or its message."""
        return self._progress.settled

    @property
    def idle(self) -> bool:
        """Whether the turn is settled, and readers have seen it."""
        return self.settled and not self._held

    async def append(self, event: Event) -> bool:
        """Add an event to the log; `False` when it was refused and is dropped.

        Raises:
            ProtocolViolation: The event cannot be part of this task.
            Fenced: A later attempt writes.
            Suspended: The turn is kept for later.
            StorageError: The storage failed. The task ends as failed, in memory now and in the store as soon as it can.
        """
        async with self._lock:
            await self._seen()
            applied = apply(self._progress, self.head, event, self._around.clock())
            if isinstance(applied, Refused):
                return False
            self._progress, self.head = applied.progress, applied.head
            item = self._add(applied)
            if item.held is not None:
                await self._done(item)
            else:
                await self._room()
            return True

    async def add_message(self, message: Message) -> None:
        """Let the message of a follow-up join the history of an existing task, once.

        Raises:
            Fenced: A later attempt writes.
            Suspended: The turn is kept for later.
            StorageError: The storage failed.
        """
        async with self._lock:
            await self._seen()
            if self.head is None or self.settled or not join_history(self.head, message):
                return
            item = _Waiting(self._last, None, row_of(self.head, self._live.owner, self._last))
            self._enqueue(item)
            self._live.notify()
            await self._done(item)

    def suspend(self, last: Event | None) -> None:
        """Leave the turn to another process or to the next start.

        Args:
            last: What readers are told last; it does not become part of the log.
        """
        if not self.lost.is_set():
            self._lose(SUSPENDED)
            self._live.park(Cut(last))

    def release(self) -> None:
        """The run is over. Readers of a turn that is not settled get nothing more."""
        if self._live.writer is not self:
            return
        self._live.writer = None
        if not self.settled and not self.lost.is_set():
            self._lose(FENCED)
            self._live.cut = Cut()
        self._live.notify()
        self._around.leave(self._live)

    def fence(self) -> None:
        """Write what was accepted, and nothing more: another attempt of this process takes over."""
        if not self.lost.is_set():
            self._lose(FENCED)

    async def flushed(self) -> None:
        """Wait until what was accepted is stored, or never will be."""
        await self._live.flushed()

    def unstored(self) -> list[Record]:
        """Content that readers see and that is not stored yet, in order."""
        records = (item.record for item in self._waiting if item.held is None)
        return [record for record in records if record is not None and record.kind in CONTENT]

    def _check(self) -> None:
        if self.lost.is_set():
            raise self._error()

    def _error(self) -> Exception:
        match self.reason:
            case "storage":
                return self._failure
            case "suspended":
                return Suspended()
            case _:
                return Fenced()

    def _lose(self, reason: str) -> None:
        self.reason = reason
        self.lost.set()

    def _add(self, applied: Applied) -> _Waiting:
        entry = self._next(applied.event)
        head = applied.head
        moved = head if applied.moves else None
        row = row_of(moved, self._live.owner, entry.sequence) if moved is not None else None
        item = _Waiting(entry.sequence, record_of(entry), row)
        if applied.starts or applied.settles:
            item.held, item.head = entry, head
            self._held = True
        self._enqueue(item)
        if item.held is None:
            self._live.publish(entry, item.size, head)
        return item

    def _next(self, event: Event) -> Entry:
        self._last = max(self._last, self._numbers_from) + 1
        return Entry(self._last, event)

    def _enqueue(self, item: _Waiting) -> None:
        self._waiting.append(item)
        self._bytes += item.size
        if self._live.storing is None:
            self._live.users += 1
            self._live.storing = asyncio.create_task(self._store_all())

    async def _done(self, item: _Waiting) -> None:
        item.done = asyncio.get_running_loop().create_future()
        await item.done

    async def _seen(self) -> None:
        """Wait for an event that readers do not see yet, whose append was cancelled."""
        while self._held and not self.lost.is_set():
            await self._live.changed.wait()
        self._check()

    async def _room(self) -> None:
        """Slow the executor down while much waits to be stored."""
        while (
            len(self._waiting) >= MAX_WAITING or self._bytes >= MAX_WAITING_BYTES
        ) and not self.lost.is_set():
            await self._live.changed.wait()

    async def _store_all(self) -> None:
        try:
            while self._waiting:
                await self._store(list(islice(self._waiting, BATCH)))
        except Exception:  # a background task: what is not stored ends the task
            log.exception("task_log.crashed", task_id=self._live.task_id)
            self._fail()
        finally:
            self._live.storing = None
            self._around.leave(self._live)

    async def _store(self, batch: list[_Waiting]) -> None:
        write = self._write(batch)
        try:
            await self._around.store.append(write)
        except WriteRefused as refused:
            if refused.refusal in {Refusal.GAP, Refusal.MISSING}:
                self._fail()
            else:
                self._give_up()
            return
        except StorageError as error:
            self._failure = error
            if not await self._is_stored(write, batch):
                return
        self._stored(batch)

    def _write(self, batch: list[_Waiting]) -> Write:
        rows = [item.row for item in batch if item.row is not None]
        return Write(
            task_id=self._live.task_id,
            owner=self._live.owner,
            attempt=self.attempt,
            after=self._live.stored,
            records=tuple(item.record for item in batch if item.record is not None),
            row=rows[-1] if rows else None,
        )

    def _stored(self, batch: list[_Waiting]) -> None:
        for item in batch:
            self._waiting.popleft()
            self._bytes -= item.size
        self._live.store(max(self._live.stored, batch[-1].sequence))
        for item in batch:
            if item.held is not None:
                self._held = False
                self._live.publish(item.held, item.size, item.head)
            item.resolve()

    async def _is_stored(self, write: Write, batch: list[_Waiting]) -> bool:
        """Whether a write that failed is stored all the same; where it is not, this attempt and its task are over.

        Where that cannot be learned, the task fails; but an answer may be complete in the store, so that one waits.
        """
        pause = FIRST_PAUSE
        while True:
            try:
                stored = await self._around.store.look(write.task_id, write.owner)
            except StorageError:
                if not _completes(batch[-1]):
                    break
                await asyncio.sleep(pause)
                pause = min(2 * pause, LONGEST_PAUSE)
                continue
            if stored is None or stored.attempt != self.attempt:
                self._give_up()
                return False
            if _holds(stored, write):
                return True
            break
        self._fail()
        return False

    def _give_up(self) -> None:
        """Another attempt writes the log: what waits is not part of it."""
        if not self.lost.is_set():
            self._lose(FENCED)
        self._drop(Fenced())
        self._live.cut = self._live.cut or Cut()
        self._around.detach(self._live)
        self._live.notify()

    def _fail(self) -> None:
        """The storage failed: end the task, unless its turn is kept for later anyway."""
        waiting = self._drop(None)
        if self.reason == SUSPENDED:
            for item in waiting:
                item.resolve(Suspended())
            self._live.notify()
            return
        self._lose(STORAGE)
        last = waiting[-1] if waiting else None
        own_end = last is not None and _cuts_short(last)
        if last is not None and own_end:
            self._keep_end(last)
        elif self._live.head is not None:
            self._keep_end(self._failed_end(self._live.head))
        else:
            self._end_unseen(waiting)
        for item in waiting:
            item.resolve(None if own_end and item is last else self._failure)

    def _drop(self, error: Exception | None) -> list[_Waiting]:
        """Take everything out of the line."""
        waiting = list(self._waiting)
        self._waiting.clear()
        self._bytes = 0
        self._held = False
        if error is not None:
            for item in waiting:
                item.resolve(error)
        return waiting

    def _failed_end(self, head: Task) -> _Waiting:
        event = storage_end(head, self._around.clock())
        entry = self._next(event)
        ended = Task()
        ended.CopyFrom(head)
        replay(ended, event)
        row = row_of(ended, self._live.owner, entry.sequence)
        return _Waiting(entry.sequence, record_of(entry), row, held=entry, head=ended)

    def _keep_end(self, item: _Waiting) -> None:
        """Let readers see the end of the task now, and store it as soon as that is possible."""
        assert item.held is not None
        live = self._live
        self._progress, self.head = replace(self._progress, settled=True, open=False), item.head
        live.drop_unstored()
        live.pinned = True
        live.users += 1
        live.publish(item.held, item.size, item.head)

        def stored() -> None:
            live.pinned = False
            live.store(item.sequence)
            self._around.leave(live)

        self._around.ends.keep(UnwrittenEnd(self._end(item), stored))

    def _end_unseen(self, waiting: list[_Waiting]) -> None:
        """Tell readers that there is no task; where the store has it all the same, it ends there."""
        self._live.failure = self._failure
        self._live.notify()
        heads = [item.head for item in waiting if item.head is not None]
        if heads:
            end = self._failed_end(heads[0])
            self._around.ends.keep(UnwrittenEnd(self._end(end), lambda: None))

    def _end(self, item: _Waiting) -> Write:
        assert item.record is not None
        return Write(
            task_id=self._live.task_id,
            owner=self._live.owner,
            attempt=self.attempt,
            after=None,
            records=(item.record,),
            row=item.row,
        )


def _completes(item: _Waiting) -> bool:
    """Whether it settles a turn that is not cut short."""
    return item.held is not None and item.held.settles and not _cuts_short(item)


def _cuts_short(item: _Waiting) -> bool:
    event = item.held.event if item.held is not None else None
    return isinstance(event, Task | TaskStatusUpdateEvent) and event.status.state in CUT_SHORT


def _holds(stored: Stored, write: Write) -> bool:
    """Whether the store has what was written."""
    if write.records:
        return stored.last >= write.records[-1].sequence
    return stored.row is not None and write.row is not None and stored.row.body == write.row.body
