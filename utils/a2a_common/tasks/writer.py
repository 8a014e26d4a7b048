"""The writer of a task's log: one attempt to run its turn.

Events wait in a line and are stored in batches, one after the other; readers see most of them before. The first task
and an event that settles the turn are seen only when they and all before them are stored. A batch that cannot be stored
ends this attempt and its task, and no other. A message that cannot join the task is refused: it ends the attempt, and
leaves the task as it was.
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

from utils.a2a_common.tasks.backlog import Backlog, Outcomes, Waiting
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
"""Sequence numbers that one attempt may use. Each attempt after the first event has its own, so that a reader that saw an
event which was never stored does not take the event of a later attempt for it."""


class Loss(StrEnum):
    """Why a writer can write nothing more."""

    FENCED = "fenced"
    """A later attempt writes, or its run is over."""
    STORAGE = "storage"
    """The storage failed."""
    SUSPENDED = "suspended"
    """The turn is kept for another process, or for the next start."""


CONTINUES_ELSEWHERE = frozenset({Loss.FENCED, Loss.SUSPENDED})
"""Losses after which the turn goes on elsewhere."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The part of the log that a writer needs.

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
        reason: Why; `None` before.
        head: The task as far as it is written, without the parts of its artifacts. Do not change it.
        effects: What the attempt's tools may have changed.
    """

    def __init__(self, live: LiveLog, attempt: int, around: Surroundings) -> None:
        self.attempt = attempt
        self.lost = asyncio.Event()
        self.reason: Loss | None = None
        self.head = live.head
        self.effects = BegunEffects()
        self._live = live
        self._around = around
        self._progress = begin(live.task_id, live.head)
        self._last = live.last
        self._numbers_from = attempt * NUMBERS if live.last else 0
        self._lock = asyncio.Lock()
        outcomes = Outcomes(self._give_up, self._fail, self._doubt, around.leave)
        self._backlog = Backlog(live, attempt, around.store, outcomes)
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
        """Let the message of a follow-up join the history of an existing task, once.

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
            item = Waiting(self._last, None, row_of(joined, self._live.owner, self._last), head=joined)
            self._backlog.add(item)
            await item.stored()
            self.head = joined

    def suspend(self, last: Event | None) -> None:
        """Leave the turn to another process or to the next start.

        Args:
            last: What readers are told last; it does not become part of the log.
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
        self._around.leave(self._live)

    def hand_over(self) -> None:
        """Let another attempt go on, here or in another process. Readers wait for what it stores."""
        if self._live.writer is not self:
            return
        self._live.writer = None
        self.fence()
        self._live.notify()
        self._around.leave(self._live)

    def fence(self) -> None:
        """Write what was accepted, and nothing more: another attempt of this process takes over."""
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

    def _add(self, applied: Applied) -> Waiting:
        entry = self._next(applied.event)
        head = applied.head
        moved = head if applied.moves else None
        row = row_of(moved, self._live.owner, entry.sequence) if moved is not None else None
        item = Waiting(entry.sequence, record_of(entry), row)
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
        """Wait for an event that readers do not see yet, whose append was cancelled."""
        while self._backlog.held and not self.lost.is_set():
            await self._live.changed.wait()
        self._check()

    async def _room(self) -> None:
        """Slow the executor down while much waits to be stored."""
        while self._backlog.full and not self.lost.is_set():
            await self._live.changed.wait()

    def _give_up(self) -> None:
        """Another attempt writes the log: what waits is not part of it."""
        if not self.lost.is_set():
            self._lose(Loss.FENCED)
        for item in self._backlog.clear():
            item.resolve(Fenced())
        self._leave_to_another()

    def _leave_to_another(self) -> None:
        """Another attempt writes the log: who reads from memory gets nothing more, and new readers ask the store."""
        self._live.cut = self._live.cut or Cut()
        self._around.detach(self._live)
        self._live.notify()

    def _fail(self, error: StorageError | None) -> None:
        """The storage failed: end the task, unless its turn is kept for later anyway."""
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
        """The storage failed, and may have what it was to store: a message that is refused now is taken back there."""
        head, waiting = self._live.head, self._backlog.waiting()
        self._fail(error)
        if head is not None and _is_message(waiting):
            self._live.users += 1
            leave = partial(self._around.leave, self._live)
            as_before = self._write((), row_of(head, self._live.owner, self._last))
            self._around.ends.keep(UnwrittenEnd(as_before, leave, leave))

    def _end_task(self, waiting: list[Waiting]) -> Waiting | None:
        """Let the task end in memory; its own end that waits to be stored is kept, unless it was to complete the task."""
        if self._live.head is None:
            self._end_unseen(waiting)
            return None
        if waiting and waiting[-1].cuts_short:
            self._keep_end(waiting[-1])
            return waiting[-1]
        self._keep_end(self._failed_end(self._live.head))
        return None

    def _failed_end(self, head: Task) -> Waiting:
        event = storage_end(head, self._around.clock(), self._failure, self.effects)
        entry = self._next(event)
        ended = Task()
        ended.CopyFrom(head)
        replay(ended, event)
        row = row_of(ended, self._live.owner, entry.sequence)
        return Waiting(entry.sequence, record_of(entry), row, held=entry, head=ended)

    def _keep_end(self, item: Waiting) -> None:
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

        def dropped() -> None:
            live.pinned = False
            live.drop_unstored()
            self._leave_to_another()
            self._around.leave(live)

        self._around.ends.keep(UnwrittenEnd(self._end(item), stored, dropped))

    def _end_unseen(self, waiting: list[Waiting]) -> None:
        """Tell readers that the storage failed. Whether it has the task is not known: where it has, the task ends there.

        A reader that finds the task in the store before its end is there sees that end too.
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
            self._around.leave(live)

        def over() -> None:
            self._around.detach(live)
            self._around.leave(live)

        self._around.ends.keep(UnseenEnd(self._end(end), over, over, show))

    def _end(self, item: Waiting) -> Write:
        assert item.record is not None
        return self._write((item.record,), item.row)

    def _write(self, records: tuple[Record, ...], row: Row | None) -> Write:
        """A write that is stored as soon as possible, whatever is already stored."""
        return Write(
            task_id=self._live.task_id,
            owner=self._live.owner,
            attempt=self.attempt,
            after=None,
            records=records,
            row=row,
        )


def _is_message(waiting: list[Waiting]) -> bool:
    """Whether nothing waits but a message that joins the task."""
    return bool(waiting) and waiting[-1].joins
