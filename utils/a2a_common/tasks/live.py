"""`LiveLog`: the part of a task's log that is in memory while the task is written or read."""

from __future__ import annotations

import asyncio
from bisect import bisect_right
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from a2a.server.events.event_queue import Event
from a2a.types.a2a_pb2 import Task

from utils.a2a_common.tasks.entries import Entry

if TYPE_CHECKING:
    from utils.a2a_common.tasks.writer import TaskWriter

RECENT_ENTRIES = 1024
RECENT_BYTES = 4_000_000
"""Limits of the part of a log in memory; a reader that is further behind reads from the store."""

BATCH = 64
"""Entries that a reader takes at once."""


@dataclass(frozen=True, slots=True)
class Cut:
    """Readers in this process cannot follow the log any further.

    Attributes:
        last: Last event for these readers; it is not part of the log.
    """

    last: Event | None = None


class LiveLog:
    """The state that the readers and the writer of one task share.

    Attributes:
        head: The task as readers see it, without the parts of its artifacts; `None` while there is none.
        last: The sequence of the last event that readers see.
        stored: The sequence of the last event that is stored.
        floor: Entries after this sequence are in memory.
        writer: The writer in this process; `None` if there is none.
        storing: The asyncio task that stores what a writer accepted; it may outlive that writer.
        pinned: Whether memory has an end that is not stored yet.
        parked: Whether the turn is kept for another process or the next start.
        cut: Set if readers cannot follow any further.
        failure: Raised for readers if the task could not be stored at all.
        users: Number of writers, readers and background tasks that use it; it is dropped at 0.
        readers: Number of open streams among them.
        followed: Whether memory has all that another process wrote, as far as is known.
        lock: Held while it is loaded or claimed.
        changed: Set, and replaced, at each change.
    """

    def __init__(self, task_id: str, owner: str) -> None:
        self.task_id = task_id
        self.owner = owner
        self.head: Task | None = None
        self.last = self.stored = self.floor = 0
        self.loaded = self.followed = False
        self.writer: TaskWriter | None = None
        self.storing: asyncio.Task[None] | None = None
        self.pinned = False
        self.parked = False
        self.cut: Cut | None = None
        self.failure: Exception | None = None
        self.users = self.readers = 0
        self.lock = asyncio.Lock()
        self.changed = asyncio.Event()
        self._entries: deque[tuple[Entry, int]] = deque()
        self._bytes = 0

    @property
    def current(self) -> bool:
        """Whether memory is at least as new as the store."""
        return self.pinned or self.writer is not None

    def start_at(self, head: Task | None, last: int) -> None:
        """Take over the stored state. Entries in memory stay if they end at the same sequence number."""
        self.stored = last
        if not self.loaded or last != self.last:
            self._entries.clear()
            self._bytes = 0
            self.floor = self.last = last
        self.loaded = True
        self.head = head
        self.notify()

    async def flushed(self) -> None:
        """Wait until what was accepted is stored, or never will be."""
        while self.storing is not None:
            await asyncio.wait([self.storing])

    def begin(self, head: Task | None, last: int) -> None:
        """Start a new attempt from the stored state."""
        if self.parked:
            self.parked = False
            self.users -= 1
        self.cut = self.failure = None
        self.followed = False
        self.start_at(head, last)

    def park(self, cut: Cut) -> None:
        """Cut off readers because the turn continues elsewhere, until a new attempt begins here."""
        self.parked = True
        self.users += 1
        self.cut = cut
        self.notify()

    def publish(self, entry: Entry, size: int, head: Task | None) -> None:
        """Make an entry visible to readers."""
        self._entries.append((entry, size))
        self._bytes += size
        self.last = entry.sequence
        self.head = head
        self._trim()
        self.notify()

    def join(self, head: Task) -> None:
        """Replace the head after a message has joined the task."""
        self.head = head
        self.notify()

    def store(self, sequence: int) -> None:
        """Record that all entries up to `sequence` are stored."""
        self.stored = sequence
        self._trim()
        self.notify()

    def drop_unstored(self) -> None:
        """Drop the entries that are not stored and never will be."""
        while self._entries and self._entries[-1][0].sequence > self.stored:
            self._bytes -= self._entries.pop()[1]

    def notify(self) -> None:
        """Wake all readers and writers that wait for a change."""
        self.changed.set()
        self.changed = asyncio.Event()

    def after(self, sequence: int) -> Sequence[Entry]:
        """The next entries after `sequence`, which must not be below `floor`."""
        start = bisect_right(self._entries, sequence, key=lambda known: known[0].sequence)
        return [entry for entry, _ in islice(self._entries, start, start + BATCH)]

    def _trim(self) -> None:
        while self._entries and (len(self._entries) > RECENT_ENTRIES or self._bytes > RECENT_BYTES):
            entry, size = self._entries[0]
            if entry.sequence > self.stored:
                return
            self._entries.popleft()
            self._bytes -= size
            self.floor = entry.sequence
