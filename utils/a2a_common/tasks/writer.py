"""`TaskWriter`: appends the events of one attempt to run a turn.

Events are stored in order and in batches; readers see most of them before that. The first event of a task, and an event that
settles the turn, become visible only when they and all before them are stored. If a batch cannot be stored, this attempt and
its task end, and no other task is affected. If the message of a follow-up cannot be stored, the attempt ends and the task stays
as it was.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from typing import assert_never

from a2a.server.events.event_queue import Event
from a2a.types.a2a_pb2 import Message, Task

from utils.a2a_common.tasks.backlog import Backlog, Outcomes, PendingWrite
from utils.a2a_common.tasks.begun_effects import BegunEffects
from utils.a2a_common.tasks.entries import Entry, Fenced, Suspended
from utils.a2a_common.tasks.live import Cut, LiveLog
from utils.a2a_common.tasks.statuses import NOT_STORED, copy_of, storage_end
from utils.a2a_common.tasks.stored_form import record_of, row_of
from utils.a2a_common.tasks.transitions import Applied, Dropped, apply, begin, join_history, replay
from utils.a2a_common.tasks.unwritten_ends import UnseenEnd, UnwrittenEnd, UnwrittenEnds
from utils.errors import StorageError
from utils.persistence.task_log_store import Record, Row, TaskLogStore, Write

NUMBERS = 2**32
"""Sequence numbers reserved for one attempt. The ranges differ, so that a reader that saw an event which was never stored does
not mistake an event of a later attempt for it."""


class Loss(StrEnum):
    """Why a writer can write nothing more."""

    FENCED = "fenced"
    """A later attempt writes, or the run is over."""
    STORAGE = "storage"
    """The storage failed."""
    SUSPENDED = "suspended"
    """The turn is kept for another process, or for the next start."""


CONTINUES_ELSEWHERE = frozenset({Loss.FENCED, Loss.SUSPENDED})
"""Losses after which another attempt continues the turn."""


@dataclass(frozen=True, slots=True)
class WriterContext:
    """The parts of the task log that a writer uses.

    Attributes:
        store: Where events are stored.
        ends: Retries ends that could not be stored.
        clock: Returns seconds since 1970.
        leave: Releases one use of a live log.
        detach: Drops a live log from memory because another process writes it.
    """

    store: TaskLogStore
    ends: UnwrittenEnds
    clock: Callable[[], float]
    leave: Callable[[LiveLog], None]
    detach: Callable[[LiveLog], None]


class TaskWriter:
    """Appends the events of one attempt.

    Attributes:
        attempt: Number of the attempt. A later attempt fences this one.
        lost: Set when nothing more can be written.
        reason: Why nothing more can be written; `None` before that.
        head: The task after all accepted events, without the parts of its artifacts. Must not be changed.
        effects: What the tools of the attempt may have changed.
    """

    def __init__(self, live: LiveLog, attempt: int, context: WriterContext) -> None:
        self.attempt = attempt
        self.lost = asyncio.Event()
        self.reason: Loss | None = None
        self.head = live.head
        self.effects = BegunEffects()
        self._live = live
        self._context = context
        self._progress = begin(live.task_id, live.head)
        self._last = live.last
        self._numbers_from = attempt * NUMBERS if live.last else 0
        self._lock = asyncio.Lock()
        outcomes = Outcomes(self._give_up, self._fail, self._doubt, context.leave)
        self._backlog = Backlog(live, attempt, context.store, outcomes)
        self._failure = StorageError(NOT_STORED)

    @property
    def settled(self) -> bool:
        """Whether the turn has its terminal or interrupted status, or its message."""
        return self._progress.settled

    @property
    def shown(self) -> Task | None:
        """The task as readers see it now, without the parts of its artifacts; `None` before they see its first event."""
        return self._live.head

    @property
    def idle(self) -> bool:
        """Whether the turn is settled and its readers have received that."""
        return self.settled and not self._backlog.held

    async def append(self, event: Event) -> bool:
        """Add an event to the log; `False` if it was dropped.

        Raises:
            ProtocolViolation: The event cannot be part of this task.
            Fenced: A later attempt writes.
            Suspended: The turn is kept for later.
            StorageError: The storage failed. The task ends as failed: in memory now, in the store as soon as possible.
        """
        async with self._lock:
            await self._seen()
            applied = apply(self._progress, self.head, event, self._context.clock())
            if isinstance(applied, Dropped):
                return False
            self._progress, self.head = applied.progress, applied.head
            item = self._add(applied)
            if item.held is not None:
                await item.stored()
            else:
                await self._room()
            return True

    async def add_message(self, message: Message) -> None:
        """Add the message of a follow-up to the history of an existing task, once.

        Raises:
            Fenced: A later attempt writes.
            Suspended: The turn is kept for later.
            StorageError: The storage failed. The task stays as it was.
        """
        async with self._lock:
            await self._seen()
            joined = copy_of(self.head)
            if joined is None or self.settled or not join_history(joined, message):
                return
            item = PendingWrite(self._last, None, row_of(joined, self._live.owner, self._last), head=joined)
            self._backlog.add(item)
            await item.stored()
            self.head = joined

    def suspend(self, last: Event | None) -> None:
        """Leave the turn to another process or to the next start.

        Args:
            last: Last event for readers; it does not become part of the log.
        """
        if not self.lost.is_set():
            self._lose(Loss.SUSPENDED)
            self._live.park(Cut(last))

    def release(self) -> None:
        """End the attempt: the log takes no further event of it. Readers of a turn that is not settled get nothing more."""
        if self._live.writer is not self:
            return
        self._live.writer = None
        self._progress = replace(self._progress, open=False)  # also where it waited for credentials
        if not self.settled and not self.lost.is_set():
            self._lose(Loss.FENCED)
            self._live.cut = Cut()
        self._live.notify()
        self._context.leave(self._live)

    def hand_over(self) -> None:
        """Let another attempt continue, here or in another process. Readers wait for its events."""
        if self._live.writer is not self:
            return
        self._live.writer = None
        self.fence()
        self._live.notify()
        self._context.leave(self._live)

    def fence(self) -> None:
        """Accept nothing more, because another attempt of this process takes over. What was accepted is still stored."""
        if not self.lost.is_set():
            self._lose(Loss.FENCED)

    async def flushed(self) -> None:
        """Wait until what was accepted is stored, or never will be."""
        await self._live.flushed()

    def unstored(self) -> list[Record]:
        """Content that readers see and that is not stored yet, in order."""
        return self._backlog.content()

    def _check(self) -> None:
        if self.lost.is_set():
            raise self._error()

    def _error(self) -> Exception:
        match self.reason:
            case Loss.STORAGE:
                return self._failure
            case Loss.SUSPENDED:
                return Suspended()
            case Loss.FENCED | None:
                return Fenced()
            case _:
                assert_never(self.reason)

    def _lose(self, reason: Loss) -> None:
        self.reason = reason
        self.lost.set()

    def _add(self, applied: Applied) -> PendingWrite:
        entry = self._next(applied.event)
        head = applied.head
        moved = head if applied.moves else None
        row = row_of(moved, self._live.owner, entry.sequence) if moved is not None else None
        item = PendingWrite(entry.sequence, record_of(entry), row)
        if applied.starts or applied.settles:
            item.held, item.head = entry, head
        self._backlog.add(item)
        if item.held is None:
            self._live.publish(entry, item.size, head)
        return item

    def _next(self, event: Event) -> Entry:
        self._last = max(self._last, self._numbers_from) + 1
        return Entry(self._last, event)

    async def _seen(self) -> None:
        """Wait until no event is hidden from readers: its append may have been canceled."""
        while self._backlog.held and not self.lost.is_set():
            await self._live.changed.wait()
        self._check()

    async def _room(self) -> None:
        """Slow the executor down while much waits to be stored."""
        while self._backlog.full and not self.lost.is_set():
            await self._live.changed.wait()

    def _give_up(self) -> None:
        """Drop pending events, because another attempt writes the log."""
        if not self.lost.is_set():
            self._lose(Loss.FENCED)
        for item in self._backlog.clear():
            item.resolve(Fenced())
        self._leave_to_another()

    def _leave_to_another(self) -> None:
        """Cut off readers of the memory; new readers read the store, because another attempt writes the log."""
        self._live.cut = self._live.cut or Cut()
        self._context.detach(self._live)
        self._live.notify()

    def _fail(self, error: StorageError | None) -> None:
        """End the task because the storage failed, unless its turn is kept for later."""
        self._failure = error or self._failure
        waiting = self._backlog.clear()
        own_end = None
        if self.reason is not Loss.SUSPENDED:
            self._lose(Loss.STORAGE)
            self.effects.over = self._failure
            if not _is_message(waiting):
                own_end = self._end_task(waiting)
        for item in waiting:
            item.resolve(None if item is own_end else self._error())
        self._live.notify()

    def _doubt(self, error: StorageError) -> None:
        """The storage failed and may have stored the batch all the same. A message that is rejected now is removed there later."""
        head, waiting = self._live.head, self._backlog.waiting()
        self._fail(error)
        if head is not None and _is_message(waiting):
            self._live.users += 1
            leave = partial(self._context.leave, self._live)
            as_before = self._write((), row_of(head, self._live.owner, self._last))
            self._context.ends.keep(UnwrittenEnd(as_before, leave, leave))

    def _end_task(self, waiting: list[PendingWrite]) -> PendingWrite | None:
        """End the task in memory. A pending end of its own is kept, unless it would complete the task."""
        if self._live.head is None:
            self._end_unseen(waiting)
            return None
        if waiting and waiting[-1].cuts_short:
            self._keep_end(waiting[-1])
            return waiting[-1]
        self._keep_end(self._failed_end(self._live.head))
        return None

    def _failed_end(self, head: Task) -> PendingWrite:
        event = storage_end(head, self._context.clock(), self._failure, self.effects)
        entry = self._next(event)
        ended = Task()
        ended.CopyFrom(head)
        replay(ended, event)
        row = row_of(ended, self._live.owner, entry.sequence)
        return PendingWrite(entry.sequence, record_of(entry), row, held=entry, head=ended)

    def _keep_end(self, item: PendingWrite) -> None:
        """Show readers the end of the task now, and store it as soon as possible."""
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
            self._context.leave(live)

        def dropped() -> None:
            live.pinned = False
            live.drop_unstored()
            self._leave_to_another()
            self._context.leave(live)

        self._context.ends.keep(UnwrittenEnd(self._end(item), stored, dropped))

    def _end_unseen(self, waiting: list[PendingWrite]) -> None:
        """Report the failed storage to readers. If the store has the task all the same, the task ends there.

        A reader that finds the task in the store before its end is stored sees that end too.
        """
        live = self._live
        live.failure = self._failure
        heads = [item.head for item in waiting if item.head is not None]
        if not heads:
            return
        head, end = heads[0], self._failed_end(heads[0])
        live.users += 1

        def show(last: int) -> None:
            live.failure = None
            live.start_at(head, last)
            self._keep_end(end)
            self._context.leave(live)

        def over() -> None:
            self._context.detach(live)
            self._context.leave(live)

        self._context.ends.keep(UnseenEnd(self._end(end), over, over, show))

    def _end(self, item: PendingWrite) -> Write:
        assert item.record is not None
        return self._write((item.record,), item.row)

    def _write(self, records: tuple[Record, ...], row: Row | None) -> Write:
        """A write that does not depend on what is stored already."""
        return Write(
            task_id=self._live.task_id,
            owner=self._live.owner,
            attempt=self.attempt,
            after=None,
            records=records,
            row=row,
        )


def _is_message(waiting: list[PendingWrite]) -> bool:
    """Whether the last pending write is a message that joins the task."""
    return bool(waiting) and waiting[-1].joins
