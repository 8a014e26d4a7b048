"""`TaskLog`: the event logs of tasks. The attempt that runs a task appends its events; any number of readers follow them.

Each reader has a cursor of its own. It reads recent events from memory, and older ones from the store. A slow reader is not
dropped and does not slow down the writer.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence

from a2a.types.a2a_pb2 import ListTasksRequest, ListTasksResponse, Task, TaskState
from a2a.utils.errors import TaskNotFoundError, UnsupportedOperationError
from a2a.utils.task import apply_history_length
from google.protobuf.message import DecodeError

from utils.a2a_common.tasks.content import Content, InThread
from utils.a2a_common.tasks.entries import Entry, Fenced, Snapshot, Suspended
from utils.a2a_common.tasks.live import LiveLog
from utils.a2a_common.tasks.other_replicas import READ, OtherReplicas
from utils.a2a_common.tasks.pages import fill_page, page_request
from utils.a2a_common.tasks.states import OPEN, TERMINAL
from utils.a2a_common.tasks.stored_form import entry_of, head_of
from utils.a2a_common.tasks.unwritten_ends import UnwrittenEnds
from utils.a2a_common.tasks.writer import TaskWriter, WriterContext
from utils.encryption.errors import StorageUnreadable
from utils.persistence.database_failures import StorageDamaged
from utils.persistence.task_log_store import (
    LEFT_OUT,
    IdleContext,
    Query,
    Record,
    Row,
    Stored,
    TaskLogStore,
    WriteRefused,
)
from utils.persistence.unreadable import UNREADABLE, Noted, stand_in, status_of

__all__ = ["Entry", "Fenced", "Snapshot", "Suspended", "TaskLog", "TaskWriter"]

CLOSE_SECONDS = 10.0
"""Longest wait for unstored events when the log is closed."""


class TaskLog:
    """The logs of all tasks of one store.

    Args:
        store: Where they are stored.
        clock: Returns seconds since 1970; the store's clock if omitted.
        in_thread: Runs a slow function outside the event loop.

    Attributes:
        store: As given.
        unreadable: Tasks whose stored form cannot be read, each logged once.
        other_replicas: Follows tasks that other processes write.
        on_claim: Called with the id and the owner of each task that is claimed.
    """

    def __init__(
        self,
        store: TaskLogStore,
        *,
        clock: Callable[[], float] | None = None,
        in_thread: InThread = asyncio.to_thread,
    ) -> None:
        self._store = self.store = store
        self._ends = UnwrittenEnds(store)
        self._lives: dict[tuple[str, str], LiveLog] = {}
        self._context = WriterContext(store, self._ends, clock or store.now, self._leave, self._detach)
        self.unreadable = Noted()
        self._content = Content(store, self.unreadable, in_thread)
        self.other_replicas = OtherReplicas(store, self.unreadable)
        self.on_claim: Callable[[str, str], object] = _do_nothing

    async def open(self) -> None:
        """Open the storage.

        Raises:
            StorageError: It cannot be opened.
        """
        await self._store.open()
        self.other_replicas.start()

    async def close(self) -> None:
        """Store pending events, and close the storage. Safe to call twice."""
        flushes = [asyncio.create_task(live.flushed()) for live in self._lives.values()]
        if flushes:
            _, late = await asyncio.wait(flushes, timeout=CLOSE_SECONDS)
            for flush in late:
                flush.cancel()
        await self._ends.close()
        await self.other_replicas.stop()
        await self._store.close()

    async def not_written(self) -> str:
        """Why a write would fail now, for an operator; empty if no reason is found by a quick check."""
        return await self._store.not_written()

    async def claim(self, task_id: str, owner: str) -> TaskWriter:
        """Begin a new attempt, which fences off every earlier writer. The task need not exist.

        Raises:
            TaskNotFoundError: The task has another owner.
            UnsupportedOperationError: Its stored form cannot be read.
            StorageError: The storage failed.
        """
        while True:
            live = self._enter(task_id, owner)
            try:
                async with live.lock:
                    if self._is_known(live):
                        await self._end_earlier(live)
                    if self._is_known(live):  # else another process claimed the task meanwhile
                        return await self._claim(live)
            except BaseException:
                self._leave(live)
                raise
            self._leave(live)

    async def _end_earlier(self, live: LiveLog) -> None:
        """Fence earlier attempts of this process, and wait until they have stored what they accepted."""
        if live.writer is not None:
            live.writer.fence()
        await live.flushed()
        await self._ends.settle(live.task_id)

    async def _claim(self, live: LiveLog) -> TaskWriter:
        try:
            stored = await self._store.claim(live.task_id, live.owner)
        except WriteRefused:
            raise TaskNotFoundError from None
        head = head_of(stored, self.unreadable)
        if live.writer is not None:
            live.writer.release()
        live.begin(head, stored.last)
        live.writer = TaskWriter(live, stored.attempt, self._context)
        self.on_claim(live.task_id, live.owner)
        return live.writer

    async def head(self, task_id: str, owner: str) -> Task | None:
        """The owner's task without the parts of its artifacts; `None` if there is none. Must not be changed.

        Raises:
            UnsupportedOperationError: Its stored form cannot be read.
            StorageError: The storage failed.
        """
        found = await self._find(task_id, owner)
        return found.head if isinstance(found, LiveLog) else head_of(found, self.unreadable)

    async def _find(self, task_id: str, owner: str) -> LiveLog | Stored | None:
        """The live task if it is at least as new as the stored one, otherwise the stored one."""
        self._ends.retry_now(task_id)
        while True:
            live = self._lives.get((owner, task_id))
            if live is not None and live.current:
                return live
            unseen = self._ends.unseen(task_id)
            stored = await self._store.look(task_id, owner)
            if unseen is None:
                return stored
            if self._ends.unseen(task_id) is unseen:
                if stored is None or stored.row is None or stored.attempt != unseen.write.attempt:
                    return stored
                unseen.show(stored.last)
            # the end of the task was shown or stored meanwhile: read again

    async def snapshot(self, task_id: str, owner: str) -> Snapshot | None:
        """The owner's task with its artifacts, as it is now; `None` if there is none.

        Raises:
            UnsupportedOperationError: The stored form of it cannot be read.
            StorageError: The storage failed.
        """
        found = await self._find(task_id, owner)
        waiting: list[Record] = []
        if isinstance(found, LiveLog):
            head, last, stored = found.head, found.last, found.stored
            waiting = found.writer.unstored() if found.writer is not None else []
        else:
            head = head_of(found, self.unreadable)
            last = stored = found.last if found is not None else 0
        if head is None:
            return None
        task = Task()
        task.CopyFrom(head)
        if task.artifacts:
            await self._content.fill(task, stored, waiting)
        return Snapshot(task, last)

    async def read(
        self, task_id: str, owner: str, *, after: int = 0, stream: bool = False
    ) -> AsyncGenerator[Entry, None]:
        """Follow a task: its events after `after`, up to one that settles the turn.

        Waits for events while a turn of the task is under way in any process; otherwise ends after the last event.

        Args:
            task_id: The task, which need not exist yet if it is claimed.
            owner: Key of its owner.
            after: Sequence number of the last event that the reader knows.
            stream: Whether `readers` counts this reader.

        Raises:
            TaskNotFoundError: There is no such task.
            Suspended: The turn continues in another process or after the next start.
            StorageError: The storage failed before the task was stored, or while older events were read from it.
            UnsupportedOperationError: A stored event cannot be read.
        """
        cursor, goes_on = after, True
        while goes_on:
            live = self._enter(task_id, owner)
            live.readers += stream
            try:
                await self._load(live)
                while entries := await self._next(live, cursor):
                    for entry in entries:
                        yield entry
                        cursor = entry.sequence
                        if entry.settles:
                            return
                if live.cut is None:
                    return
                if (last := live.cut.last) is not None:
                    yield Entry(cursor, last)
                # another process writes the task now: follow that one
                goes_on = last is None and self.other_replicas.listens and not self._is_known(live)
            finally:
                live.readers -= stream
                self._leave(live)
        raise Suspended(announced=last is not None)

    async def _load(self, live: LiveLog) -> None:
        if live.loaded and self._ends.unseen(live.task_id) is None:
            return
        async with live.lock:
            found = await self._find(live.task_id, live.owner)
            if found is None:
                raise TaskNotFoundError
            if isinstance(found, Stored) and not live.loaded:
                live.start_at(head_of(found, self.unreadable), found.last)

    async def _next(self, live: LiveLog, cursor: int) -> Sequence[Entry]:
        """Wait for the next entries after `cursor`; empty if there will be none."""
        while True:
            changed = live.changed
            if cursor < live.floor:
                entries = await self._stored_entries(live, cursor)
                if not entries:
                    cursor = live.floor
                    continue
            else:
                entries = live.after(cursor)
            if entries:
                return entries
            if live.failure is not None:
                raise live.failure
            if live.cut is not None or (live.writer is not None and live.writer.idle):
                return ()
            if (
                live.writer is None
                and not await self.other_replicas.may_change(live)
                and not changed.is_set()
            ):
                return ()  # otherwise a turn began here meanwhile, and may have ended
            await changed.wait()

    async def _stored_entries(self, live: LiveLog, cursor: int) -> Sequence[Entry]:
        last = live.last
        records = await self._store.events(live.task_id, after=cursor, limit=READ)
        context_id = live.head.context_id if live.head is not None else ""
        try:
            return [
                entry_of(record, live.task_id, context_id) for record in records if record.sequence <= last
            ]
        except DecodeError as error:
            self.unreadable.note(live.task_id, type(error).__name__)
            raise UnsupportedOperationError(UNREADABLE) from error

    async def is_stored(self, task_id: str, owner: str, sequence: int) -> bool:
        """Whether an end that readers see is stored. If it could not be stored before, tries once more.

        Args:
            task_id: The task.
            owner: Key of its owner.
            sequence: The sequence of the end.

        Raises:
            StorageError: It still cannot be stored, or the storage cannot be read.
        """
        live = self._lives.get((owner, task_id))
        if live is not None and live.stored == sequence:  # a later attempt has larger ones
            return True
        await self._ends.settle(task_id)
        stored = await self._store.look(task_id, owner)
        return stored is not None and stored.last == sequence

    def readers(self, task_id: str, owner: str) -> int:
        """Number of open streams of the owner's task. Called for each event, so it must be fast."""
        live = self._lives.get((owner, task_id))
        return 0 if live is None else live.readers

    async def page(self, params: ListTasksRequest, owner: str) -> ListTasksResponse:
        """A page of the owner's tasks, newest status first; shorter if it would exceed `PAGE_BYTES`.

        A task that cannot be read has a placeholder. Artifacts are omitted unless requested, and so are messages beyond the
        `history_length`.

        Raises:
            InvalidParamsError: The page token is invalid.
            StorageError: The storage failed.
        """

        async def shown(row: Row) -> Task | None:
            task = await self._listed(row, artifacts=params.include_artifacts)
            return task and apply_history_length(task, params)

        query = page_request(params, owner)
        rows, total = await self._store.page(query)
        size = query.limit - 1
        tasks, token = await fill_page(rows, size, shown)
        return ListTasksResponse(tasks=tasks, total_size=total, page_size=size, next_page_token=token)

    async def newest(self, context_id: str, owner: str, most: int) -> AsyncGenerator[Task, None]:
        """The owner's newest tasks in a conversation, without artifacts; each is read only when the iterator reaches it."""
        rows, _ = await self._store.page(Query(owner, context_id=context_id, limit=most))
        for row in rows:
            task = await self._listed(row, artifacts=False)
            if task is not None:
                yield task

    async def _listed(self, row: Row, *, artifacts: bool) -> Task | None:
        try:
            if artifacts:
                snapshot = await self.snapshot(row.id, row.owner)
                if snapshot is not None:
                    return snapshot.task
            live = self._lives.get((row.owner, row.id))
            task = Task()
            if live is not None and live.current and live.head is not None:
                task.CopyFrom(live.head)
            elif row.state in OPEN or row.body == LEFT_OUT:
                head = await self.head(row.id, row.owner)
                if head is None:  # deleted since the page was read
                    return None
                task.CopyFrom(head)
            else:
                task.ParseFromString(row.body)
        except (DecodeError, UnsupportedOperationError, StorageDamaged, StorageUnreadable) as error:
            self.unreadable.note(row.id, type(error).__name__)
            # it can neither be resumed nor answered
            state = row.state if row.state in TERMINAL else TaskState.TASK_STATE_FAILED
            return stand_in(row.id, row.context_id, status_of(state, row.updated))
        task.ClearField("artifacts")
        return task

    async def unfinished(self) -> list[tuple[str, str]]:
        """Submitted and working tasks of every owner: their ids and owners."""
        return [(row.id, row.owner) for row in await self._store.unfinished(sorted(OPEN))]

    async def idle(self, before: int, limit: int, *, ended: bool = False) -> list[IdleContext]:
        """Up to `limit` conversations of any owner, unchanged since `before` (nanoseconds since 1970); with `ended` no open ones."""
        return await self._store.idle(before, limit, ended=ended)

    async def delete(self, task_id: str, owner: str) -> None:
        """Delete the owner's task with its events."""
        await self._store.delete(task_id, owner)

    def _enter(self, task_id: str, owner: str) -> LiveLog:
        live = self._lives.setdefault((owner, task_id), LiveLog(task_id, owner))
        live.users += 1
        return live

    def _leave(self, live: LiveLog) -> None:
        live.users -= 1
        if live.users == 0:
            self.other_replicas.forget(live)
            self._detach(live)

    def _is_known(self, live: LiveLog) -> bool:
        return self._lives.get((live.owner, live.task_id)) is live

    def _detach(self, live: LiveLog) -> None:
        if self._is_known(live):
            del self._lives[live.owner, live.task_id]


def _do_nothing(_task_id: str, _owner: str) -> None:
    """Default of `on_claim`: does nothing."""
