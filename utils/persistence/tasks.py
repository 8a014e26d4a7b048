"""The task store: appends chunks as they arrive, and rewrites a task's row only on status changes.

The SDK adds every chunk to the live task and copies that task for every event, so a long answer costs quadratic
time. This store removes the parts from the live task as it saves them. The SDK holds and copies a task without
parts; `whole` adds them again for a client.
"""

from __future__ import annotations

import asyncio
import itertools
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from a2a.server.cluster.task_store import (
    ConcurrentTaskModificationError,
    StoredTask,
    VersionedTaskStore,
)
from a2a.server.cluster.version import TaskVersion
from a2a.server.context import ServerCallContext
from a2a.server.events.event_queue import Event
from a2a.types.a2a_pb2 import (
    ListTasksRequest,
    ListTasksResponse,
    Message,
    Part,
    Role,
    Task,
    TaskArtifactUpdateEvent,
    TaskState,
)
from a2a.utils.errors import UnsupportedOperationError
from google.protobuf.message import DecodeError

from utils.errors import StorageError
from utils.persistence.task_chunks import Chunk, assemble
from utils.persistence.task_ends import UnwrittenEnds
from utils.persistence.task_pages import page_request, page_token
from utils.persistence.task_shelf import Row, Shelf, Stale
from utils.persistence.task_shelf_memory import MemoryShelf
from utils.persistence.task_shelf_sqlite import SqliteShelf
from utils.persistence.task_states import CUT_SHORT, OPEN
from utils.persistence.unreadable import UNREADABLE, Noted, stand_in, status_of

OwnerOf = Callable[[ServerCallContext], str]

RECENT_EVENTS = 4096
"""Recent events, to separate a new subscriber's snapshot from later events: four full SDK queues."""


LONG = 1000
"""Number of chunks above which they are assembled in a thread: these take about 3 ms."""


class RowVersion(TaskVersion):
    """The version of a row: the number of its writes."""

    __slots__ = ("number",)

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


class ChunkedTaskStore(VersionedTaskStore):
    """A task store whose cost for a task is linear in the length of its answer.

    Attributes:
        on_lost: Marks a task that could not be stored as failed, with an error of the protocol.
    """

    def __init__(self, shelf: Shelf, owner_of: OwnerOf) -> None:
        self._shelf = shelf
        self._owner_of = owner_of
        self._sequence = itertools.count(1)
        self._recent: OrderedDict[int, tuple[Event, int]] = OrderedDict()
        self._watched: dict[str, list[asyncio.Event]] = {}
        self._ends = UnwrittenEnds(self._write_end)
        self.on_lost: Callable[[Task], None] = _fail_by_storage
        self.unreadable = Noted()

    async def open(self) -> None:
        """Open the storage.

        Raises:
            StorageError: The storage cannot be opened.
        """
        self._sequence = itertools.count(await self._shelf.open() + 1)

    async def close(self) -> None:
        """Finish queued writes and close. Safe to call twice."""
        await self._ends.close()
        await self._shelf.close()

    async def writable(self) -> bool:
        """Whether a write would succeed now, as far as is known without a long wait."""
        return await self._shelf.writable()

    async def get(self, task_id: str, context: ServerCallContext) -> StoredTask | None:
        """The caller's task without the parts of its artifacts, or `None`.

        Raises:
            UnsupportedOperationError: Its stored form cannot be read.
        """
        owner = self._owner_of(context)
        row = self._ends.look(task_id)
        if row is None or row.owner != owner:
            row = await self._shelf.row(owner, task_id)
        if row is None:
            return None
        try:
            return StoredTask(Task.FromString(row.body), RowVersion(row.version))
        except DecodeError as error:
            self.unreadable.note(task_id, type(error).__name__)
            raise UnsupportedOperationError(UNREADABLE) from error

    async def whole(self, task: Task) -> tuple[Task, int]:
        """A copy of `task` with its artifacts, and the sequence of the last chunk in it.

        Consecutive text chunks of one artifact are one part.

        Raises:
            UnsupportedOperationError: The stored form of an artifact cannot be read.
        """
        full = Task()
        full.CopyFrom(task)
        chunks = (await self._shelf.chunks([task.id]))[task.id] if task.artifacts else []
        try:
            if len(chunks) > LONG:
                await asyncio.to_thread(assemble, full, chunks)
            else:
                assemble(full, chunks)
        except DecodeError as error:
            self.unreadable.note(task.id, type(error).__name__)
            raise UnsupportedOperationError(UNREADABLE) from error
        return full, max((chunk.sequence for chunk in chunks), default=0)

    def sequence_of(self, event: Event) -> int | None:
        """The sequence under which this event object was stored; `None` when it is too long ago."""
        found = self._recent.get(id(event))
        return found[1] if found else None

    async def save(
        self,
        task: Task,
        *,
        event: Event | None,
        prev: Task | None,
        prev_version: TaskVersion,
        context: ServerCallContext,
    ) -> TaskVersion:
        """Store what `event` added and remove the parts from `task`.

        A task that cannot be stored has failed: clients see that at once, and the storage gets it as soon as it
        can be written again.

        Raises:
            ConcurrentTaskModificationError: Another writer advanced the task.
            StorageError: The storage failed.
        """
        del prev
        if (end := self._ends.known(task.id)) is not None:
            task.CopyFrom(Task.FromString(end.body))
            return prev_version
        try:
            return await self._save(task, event, prev_version, context)
        except StorageError:
            if _number(prev_version):  # else there is no task yet, and the sender gets the error
                self._end(task, prev_version, context)
            raise

    def _end(self, task: Task, version: TaskVersion, context: ServerCallContext) -> None:
        """Keep the final state to be written later: the task's own unless it is a success, else a failure."""
        if task.status.state not in CUT_SHORT:
            self.on_lost(task)
        self._ends.keep(replace(_row(task, self._owner_of(context)), version=_number(version)))
        self._tell(task.id)

    async def _write_end(self, row: Row) -> None:
        await self._shelf.put(row, None, [])
        self._tell(row.id)

    async def _save(
        self, task: Task, event: Event | None, version: TaskVersion, context: ServerCallContext
    ) -> TaskVersion:
        touched = event.artifact.artifact_id if isinstance(event, TaskArtifactUpdateEvent) else ""
        chunks = [
            self._take(task, position, event)
            for position, artifact in enumerate(task.artifacts)
            if artifact.parts or artifact.artifact_id == touched
        ]
        if isinstance(event, TaskArtifactUpdateEvent) and event.append:
            for chunk in chunks:
                await self._shelf.append(task.id, chunk)
            return version
        return await self._put(task, version, context, chunks)

    def _take(self, task: Task, position: int, event: Event | None) -> Chunk:
        """Move the parts at `position` from the live task into a chunk."""
        artifact = task.artifacts[position]
        sequence = next(self._sequence)
        append = False
        content = artifact
        if isinstance(event, TaskArtifactUpdateEvent):
            append, content = event.append, event.artifact
            self._remember(event, sequence)
        chunk = Chunk(sequence, position, append, content.SerializeToString())
        artifact.ClearField("parts")
        return chunk

    def _remember(self, event: Event, sequence: int) -> None:
        self._recent[id(event)] = (event, sequence)
        if len(self._recent) > RECENT_EVENTS:
            self._recent.popitem(last=False)

    async def _put(
        self,
        task: Task,
        version: TaskVersion,
        context: ServerCallContext,
        chunks: Sequence[Chunk],
    ) -> TaskVersion:
        row = _row(task, self._owner_of(context))
        expected = None if row.state == TaskState.TASK_STATE_CANCELED else _number(version)
        try:
            number = await self._shelf.put(row, expected, chunks)
        except Stale:
            raise ConcurrentTaskModificationError(task.id) from None
        self._tell(task.id)
        return RowVersion(number)

    def _tell(self, task_id: str) -> None:
        for changed in self._watched.get(task_id, ()):
            changed.set()

    @contextmanager
    def watched(self, task_id: str) -> Iterator[asyncio.Event]:
        """An event that is set when this process writes the task's row."""
        changed = asyncio.Event()
        self._watched.setdefault(task_id, []).append(changed)
        try:
            yield changed
        finally:
            waiting = self._watched[task_id]
            waiting.remove(changed)
            if not waiting:
                del self._watched[task_id]

    async def list(self, params: ListTasksRequest, context: ServerCallContext) -> ListTasksResponse:
        """A page of the caller's tasks, newest status first; a placeholder for each that cannot be read.

        Raises:
            InvalidParamsError: The page token is invalid.
        """
        query = page_request(params, self._owner_of(context))
        rows, total = await self._shelf.page(query)
        shown = [self._ends.known(row.id) or row for row in rows[: query.limit - 1]]
        ids = [row.id for row in shown] if params.include_artifacts else []
        chunks = await self._shelf.chunks(ids)
        tasks = [self._listed(row, chunks.get(row.id, ())) for row in shown]
        token = page_token(shown[-1]) if len(rows) > len(shown) else ""
        return ListTasksResponse(
            tasks=tasks, total_size=total, page_size=query.limit - 1, next_page_token=token
        )

    def _listed(self, row: Row, chunks: Sequence[Chunk] = ()) -> Task:
        """The task of a row with its artifacts, or a placeholder."""
        try:
            task = Task.FromString(row.body)
            assemble(task, chunks)
        except DecodeError as error:
            self.unreadable.note(row.id, type(error).__name__)
            return stand_in(row.id, row.context_id, status_of(row.state, row.updated))
        return task

    async def delete(self, task_id: str, context: ServerCallContext) -> None:
        """Delete the caller's task."""
        await self._shelf.delete(self._owner_of(context), task_id)

    async def end_orphans(self, sentence: str) -> int:
        """Fail every task that a previous process left working.

        Only for a storage with a single owning process.

        Args:
            sentence: The message of the task's last status.

        Returns:
            How many tasks were ended.
        """
        rows = await self._shelf.unfinished(sorted(OPEN))
        for row in rows:
            task = self._listed(row)
            fail(task, sentence)
            await self._shelf.put(_row(task, row.owner), row.version, [])
        return len(rows)


def fail(task: Task, sentence: str) -> None:
    """Mark a task as failed now, with `sentence` as its message."""
    task.status.state = TaskState.TASK_STATE_FAILED
    task.status.timestamp.GetCurrentTime()
    task.status.message.CopyFrom(
        Message(
            message_id=f"{task.id}-end",
            role=Role.ROLE_AGENT,
            task_id=task.id,
            context_id=task.context_id,
            parts=[Part(text=sentence)],
        )
    )


def memory_task_store(owner_of: OwnerOf) -> ChunkedTaskStore:
    """A store that is lost with the process."""
    return ChunkedTaskStore(MemoryShelf(), owner_of)


def sqlite_task_store(path: Path, owner_of: OwnerOf) -> ChunkedTaskStore:
    """A store in the SQLite file at `path`, which this process alone writes. Call `open` first."""
    return ChunkedTaskStore(SqliteShelf(path), owner_of)


def _fail_by_storage(task: Task) -> None:
    fail(task, "The answer could not be stored. Try again.")


def _row(task: Task, owner: str) -> Row:
    return Row(
        id=task.id,
        owner=owner,
        context_id=task.context_id,
        state=task.status.state,
        updated=task.status.timestamp.ToNanoseconds(),
        body=task.SerializeToString(),
    )


def _number(version: TaskVersion) -> int:
    return version.number if isinstance(version, RowVersion) else 0
