"""Contract of the storage of task logs: a row per task, events under sequence numbers, and the attempt that may write.

A row is the head of a task: the task without the parts of its artifacts, as it was after event `Row.sequence`. It is
written again only where a reader of rows needs it (the state changes, a message joins the history, a turn is settled).
The events of a task are never changed or removed, except with their task.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from enum import IntEnum, StrEnum

from utils.persistence.task_states import TERMINAL


class RecordKind(IntEnum):
    """The kind of a record's body. The numbers are stored."""

    TASK = 1
    """A `Task`: the first event of a task."""
    STATUS = 2
    """A `TaskStatusUpdateEvent`."""
    ARTIFACT = 3
    """A `TaskArtifactUpdateEvent` that starts an artifact, or starts it again."""
    CHUNK = 4
    """A `TaskArtifactUpdateEvent` that continues an artifact."""
    MESSAGE = 5
    """A `Message`: the complete answer of a turn without a task."""
    BARE_ARTIFACT = 6
    """An `Artifact` alone, as version 1 of the schema stored it, that starts an artifact."""
    BARE_CHUNK = 7
    """The same, which continues an artifact."""


CONTENT = frozenset(
    {RecordKind.TASK, RecordKind.ARTIFACT, RecordKind.CHUNK, RecordKind.BARE_ARTIFACT, RecordKind.BARE_CHUNK}
)
"""Records that artifacts are assembled from."""

CHANGES = frozenset({RecordKind.STATUS, RecordKind.ARTIFACT})
"""Records that change the head of a task."""


@dataclass(frozen=True, slots=True)
class Record:
    """One event as stored.

    Attributes:
        sequence: Its place among the events of the task, from 1.
        kind: What `body` is.
        body: The event, serialised.
    """

    sequence: int
    kind: RecordKind
    body: bytes


@dataclass(frozen=True, slots=True)
class Row:
    """The head of a task.

    Attributes:
        id: Task id, unique over all owners.
        owner: Key of the scope that may see it.
        context_id: The conversation.
        state: Number of the task's state.
        updated: Status timestamp in nanoseconds since 1970.
        body: The task without the parts of its artifacts, serialised.
        sequence: The last event that is part of it.
    """

    id: str
    owner: str
    context_id: str
    state: int
    updated: int
    body: bytes
    sequence: int


@dataclass(frozen=True, slots=True)
class IdleContext:
    """A conversation whose tasks have not changed for a long time.

    Attributes:
        owner: Who sees it.
        context_id: The conversation, as its client names it.
        task_ids: All tasks of it.
        updated: When the newest of them changed, in nanoseconds since 1970.
    """

    owner: str
    context_id: str
    task_ids: tuple[str, ...]
    updated: int


@dataclass(frozen=True, slots=True)
class StoredTimes:
    """What a store knows of the time, in nanoseconds since 1970.

    Attributes:
        newest: When the newest task changed, by the clock of the store that it was written to (`TaskLogStore.now`); 0 where there is none.
        now: The time by a clock that all processes share; `None` where there is only that of each.
    """

    newest: int
    now: int | None = None


@dataclass(frozen=True, slots=True)
class ContextRow:
    """A conversation of an owner.

    Attributes:
        context_id: The conversation, as its client names it.
        updated: When its newest task changed, in nanoseconds since 1970.
        tasks: How many tasks it has.
    """

    context_id: str
    updated: int
    tasks: int


NEWEST = (2**63 - 1, "")
"""The start of the first page of conversations."""

LOST = b"\xff"
"""The body of a row whose page is damaged: no task can be parsed from it."""

LEFT_OUT = b"\xfe"
"""The body of a row that a page lists without its body, since the rows before it reach `BATCH_BYTES`: `look` reads it. No task can be parsed from it."""


@dataclass(frozen=True, slots=True)
class Stored:
    """The stored data of one task.

    Attributes:
        owner: Who sees it.
        attempt: The attempt that may write; 0 if the task was never claimed.
        last: The sequence of its last event; 0 for none.
        row: Its head; `None` while there is no task.
        changes: Records of `CHANGES` after the row, in order: applied to the row they give the current head.
    """

    owner: str
    attempt: int
    last: int
    row: Row | None = None
    changes: tuple[Record, ...] = ()


@dataclass(frozen=True, slots=True)
class Write:
    """Events of one task, and its row, that are stored atomically.

    Attributes:
        task_id: The task.
        owner: Who sees it.
        attempt: The attempt that writes.
        after: The sequence of the last event that must be stored before; `None` for the end of an existing task whose
            last events could not be stored, which may leave a gap.
        records: New events, in order; may be empty.
        row: The head to store; `None` to keep the stored one.
    """

    task_id: str
    owner: str
    attempt: int
    after: int | None
    records: tuple[Record, ...] = ()
    row: Row | None = None


@dataclass(frozen=True, slots=True)
class Query:
    """A page of an owner's tasks, newest status first. Unset fields do not filter."""

    owner: str
    context_id: str = ""
    state: int = 0
    updated_from: int | None = None
    after: tuple[int, str] | None = None
    limit: int = 50


class Refusal(StrEnum):
    """Why a write may not be stored."""

    OWNER = "owner"
    """The task belongs to another owner."""
    ATTEMPT = "attempt"
    """A later attempt has claimed the task."""
    ENDED = "ended"
    """A terminal status is stored."""
    GAP = "gap"
    """The last stored event is not the one that the write follows."""
    MISSING = "missing"
    """There is no task that could be ended."""


class WriteRefused(Exception):
    """A write that does not fit what is stored. Nothing of it was stored.

    Attributes:
        refusal: Why.
    """

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.value)
        self.refusal = refusal


def check_write(stored: Stored | None, write: Write) -> None:
    """Check that `write` may be stored: the one fence that every store calls within its transaction.

    Args:
        stored: The task as it is stored; its `changes` are not used.
        write: The write.

    Raises:
        WriteRefused: It may not.
    """
    refusal = _refusal(stored, write)
    if refusal is not None:
        raise WriteRefused(refusal)


def _refusal(stored: Stored | None, write: Write) -> Refusal | None:
    if stored is None or stored.attempt != write.attempt:
        return Refusal.ATTEMPT
    if stored.owner != write.owner:
        return Refusal.OWNER
    if stored.row is not None and stored.row.state in TERMINAL:
        return Refusal.ENDED
    if write.after is None:
        return Refusal.MISSING if stored.row is None else None
    return None if write.after == stored.last else Refusal.GAP


class TaskLogStore(ABC):
    """Stores task logs. When a call raises, its write has either happened or never will.

    Every method may raise `StorageError`.
    """

    @abstractmethod
    async def open(self) -> None:
        """Open the storage."""

    @abstractmethod
    async def close(self) -> None:
        """Finish what is under way and close. Safe to call twice."""

    @abstractmethod
    async def not_written(self) -> str:
        """Why a write would fail now, for an operator; empty if none would, as far as can be found out quickly."""

    def now(self) -> float:
        """The time that what is stored is stamped with, in seconds since 1970: this process', unless processes share a clock."""
        return time.time()

    @abstractmethod
    async def claim(self, task_id: str, owner: str) -> Stored:
        """Begin the next attempt of a task, which need not exist, and return what is stored of it.

        Events of a log without a task (an answer that was one message) are removed.

        Raises:
            WriteRefused: The task belongs to another owner.
        """

    @abstractmethod
    async def append(self, write: Write) -> None:
        """Store a write, if `check_write` allows it.

        Raises:
            WriteRefused: It does not.
        """

    @abstractmethod
    async def look(self, task_id: str, owner: str) -> Stored | None:
        """The stored task of the owner; `None` if nothing is stored, not even an attempt."""

    @abstractmethod
    async def events(
        self, task_id: str, *, after: int, limit: int, kinds: frozenset[RecordKind] | None = None
    ) -> list[Record]:
        """The next events past `after`, in order: at most `limit`, and not many more than `BATCH_BYTES`.

        Empty only where there are none. `kinds` leaves out the others.
        """

    @abstractmethod
    async def page(self, query: Query) -> tuple[list[Row], int]:
        """Up to `limit` rows as they are at one time, and how many match without paging.

        A row that is damaged has the body `LOST`. The rows after the one with which the bodies reach `BATCH_BYTES` have the
        body `LEFT_OUT`, so that a page holds little memory however large its tasks are.
        """

    @abstractmethod
    async def unfinished(self, states: Sequence[int]) -> list[Row]:
        """Rows of every owner in one of `states`."""

    @abstractmethod
    async def idle(self, before: int, limit: int, *, ended: bool = False) -> list[IdleContext]:
        """Up to `limit` conversations without a task whose status changed at `before` or later, longest idle first.

        With `ended` only those of which every task has ended: none works, and none waits for its user.
        """

    @abstractmethod
    async def times(self) -> StoredTimes:
        """When the newest task changed, and the time by the store's own clock."""

    @abstractmethod
    async def count_contexts(self) -> int:
        """How many conversations there are, of every owner."""

    @abstractmethod
    async def contexts(self, owner: str, after: tuple[int, str], limit: int) -> list[ContextRow]:
        """Up to `limit` conversations of an owner, newest first, past the `(updated, context_id)` of `after`."""

    @abstractmethod
    async def delete(self, task_id: str, owner: str) -> None:
        """Delete the owner's task with its events."""

    def changes(self) -> AsyncGenerator[str, None] | None:
        """The ids of tasks as other processes write them, without end; an empty id means any task. `None` if only this process writes."""
        return None


BATCH_BYTES = 1_000_000
"""Bytes after which a batch of events, or of the bodies of rows, that is read ends, so that a slow reader holds little memory."""
