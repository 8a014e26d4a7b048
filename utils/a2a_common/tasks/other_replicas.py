"""`OtherReplicas`: follows tasks that other processes write, for readers in this one.

The store notifies of changed tasks. Notifications can be lost, so followed tasks are also polled. New events are read once for
all readers of a task.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable

from a2a.server.events.event_queue import Event
from a2a.types.a2a_pb2 import Task
from a2a.utils.errors import TaskNotFoundError, UnsupportedOperationError
from google.protobuf.message import DecodeError

from utils.a2a_common.tasks.live import Cut, LiveLog
from utils.a2a_common.tasks.states import OPEN
from utils.a2a_common.tasks.stored_form import entry_of, head_of
from utils.cancellation import end_tasks
from utils.persistence.task_log_store import TaskLogStore
from utils.persistence.unreadable import UNREADABLE, Noted
from utils.supervised import followed, supervised

POLL_SECONDS = 1.0
"""Seconds between two polls of each followed task, in addition to notifications."""

READ = 256
"""Maximum number of events that are read at once."""


class OtherReplicas:
    """The tasks that other processes write and this process reads.

    Args:
        store: The store of all processes.
        unreadable: Records tasks whose stored form cannot be read.

    Attributes:
        has_turn: Returns, for an id and an owner, whether a turn is under way in any process. Called if the state of the task
            does not show it; an engine of several replicas sets it.
    """

    def __init__(self, store: TaskLogStore, unreadable: Noted) -> None:
        self._store = store
        self._unreadable = unreadable
        self._followed: dict[str, set[LiveLog]] = {}
        self._background: list[asyncio.Task[None]] = []
        self._last: Callable[[Task], Event] | None = None
        self.has_turn: Callable[[str, str], Awaitable[bool]] = _nowhere

    @property
    def listens(self) -> bool:
        """Whether what other processes write is followed."""
        return bool(self._background)

    def start(self) -> None:
        """Begin to follow changes, if other processes write the store."""
        if self._store.changes() is not None:
            self._background = [
                asyncio.create_task(followed("changes", self._changes, self._heard)),
                asyncio.create_task(supervised("followed_tasks", self._poll, after=POLL_SECONDS)),
            ]

    async def stop(self) -> None:
        """Stop following changes. Safe to call twice."""
        await end_tasks(self._background)
        self._background = []

    async def may_change(self, live: LiveLog) -> bool:
        """Whether a task that this process does not write can still change.

        Raises:
            TaskNotFoundError: The task is gone.
            StorageError: The storage failed.
            UnsupportedOperationError: A stored event cannot be read.
        """
        if not self.listens:
            return False
        goes_on = await self._goes_on(live)
        if not goes_on:
            live.followed = False  # a turn may have ended since the last read
        if not live.followed and await self._catch_up(live):
            return True
        goes_on = goes_on or live.writer is not None or _is_open(live)
        if goes_on:
            self._cut(live)
        return goes_on

    def cut(self, last: Callable[[Task], Event]) -> None:
        """End the streams of followed tasks, present and future, because this process stops.

        Args:
            last: Makes their last event from the task.
        """
        self._last = last
        for live in [live for each in self._followed.values() for live in each]:
            self._cut(live)

    def _cut(self, live: LiveLog) -> None:
        if self._last is not None and live.writer is None and live.cut is None:
            live.cut = Cut(self._last(live.head) if live.head is not None else None)
            live.notify()

    async def _catch_up(self, live: LiveLog) -> bool:
        """Read what was stored since the last read; return whether there is anything new."""
        async with live.lock:
            if live.writer is not None or live.followed:
                return True  # another reader has read it meanwhile, or a turn began here
            self._followed.setdefault(live.task_id, set()).add(live)
            live.followed = True  # before the read: a change during it causes another one
            try:
                return await self._read(live)
            except BaseException:
                live.followed = False
                raise

    async def _read(self, live: LiveLog) -> bool:
        stored = await self._store.look(live.task_id, live.owner)
        if stored is None:
            raise TaskNotFoundError
        # events last: the head is never newer than the events that are shown with it
        records = await self._store.events(live.task_id, after=live.last, limit=READ)
        head = head_of(stored, self._unreadable)
        context_id = head.context_id if head is not None else ""
        try:
            entries = [entry_of(record, live.task_id, context_id) for record in records]
        except DecodeError as error:
            self._unreadable.note(live.task_id, type(error).__name__)
            raise UnsupportedOperationError(UNREADABLE) from error
        live.head = head
        if not entries:
            return False
        live.followed = stored.last <= entries[-1].sequence  # else there is more to read at once
        live.store(entries[-1].sequence)
        for record, entry in zip(records, entries, strict=True):
            live.publish(entry, len(record.body), head)
        return True

    async def _goes_on(self, live: LiveLog) -> bool:
        """Whether a turn of the task is under way in another process, as far as is known."""
        return _is_open(live) or await self.has_turn(live.task_id, live.owner)

    def forget(self, live: LiveLog) -> None:
        """Stop following a task that has no more readers in this process."""
        known = self._followed.get(live.task_id)
        if known is not None:
            known.discard(live)
            if not known:
                del self._followed[live.task_id]

    def _changes(self) -> AsyncGenerator[str, None]:
        changes = self._store.changes()
        assert changes is not None
        return changes

    async def _heard(self, task_id: str) -> None:
        self._note(task_id)

    async def _poll(self) -> float:
        self._note("")
        return POLL_SECONDS

    def _note(self, task_id: str) -> None:
        """Mark a task as changed; all followed tasks if the id is empty."""
        changed = [task_id] if task_id else list(self._followed)
        for live in [live for each in changed for live in self._followed.get(each, ())]:
            if live.writer is None:
                live.followed = False
                live.notify()


def _is_open(live: LiveLog) -> bool:
    return live.head is not None and live.head.status.state in OPEN


async def _nowhere(_task_id: str, _owner: str) -> bool:
    return False
