"""`LogQueue`: the A2A event queue of one run, which appends to the task log.

The queue is closed while no client streams the task any more, or while the log accepts no event: the turn has ended, a later
attempt runs it, or the storage failed. That is logged once, and once more when a client streams it again. A client that
disconnects loses nothing: the log stores every event, and the run continues. An event that the log refuses is dropped.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum

import structlog
from a2a.server.events.event_queue import Event, EventQueue
from a2a.types.a2a_pb2 import (
    Message,
    Task,
    TaskArtifactUpdateEvent,
    TaskState,
    TaskStatus,
    TaskStatusUpdateEvent,
)

from utils.a2a_common.tasks.entries import Fenced, Suspended
from utils.a2a_common.tasks.writer import Loss, TaskWriter
from utils.errors import StorageError
from utils.observability import catalogue
from utils.observability.metrics import count

log = structlog.get_logger(__name__)


class Closed(StrEnum):
    """Why the queue is closed although the writer can still write."""

    UNREAD = "unread"
    """The last stream of the task was closed by its client."""
    ENDED = "ended"
    """The turn is over."""


def no_readers() -> int:
    """Default count of open streams: none."""
    return 0


class LogQueue(EventQueue):
    """Appends the events of one run to the log of its task.

    Args:
        writer: Appends them to the task log.
        task_id: The task, for log messages.
        readers: How many streams of the task are open now.
        shown: The task, if it was published before the run although the executor may answer with a message.

    Attributes:
        closed: Why the queue is closed; `None` while it is open.
        dropped: Number of events that the log refused.
    """

    def __init__(
        self,
        writer: TaskWriter,
        task_id: str,
        readers: Callable[[], int] = no_readers,
        *,
        shown: Task | None = None,
    ) -> None:
        self._writer = writer
        self._shown = shown
        self._task_id = task_id
        self._readers = readers
        self._streamed = False
        self.closed: Closed | Loss | None = None
        self.dropped = 0

    async def enqueue_event(self, event: Event) -> None:
        """Append an event; one that the log refuses is dropped.

        Raises:
            ProtocolViolation: It cannot be part of this task, or no client could read it.
        """
        await self.append(event)

    async def append(self, event: Event) -> bool:
        """Append an event; return whether it became part of the log.

        Raises:
            ProtocolViolation: It cannot be part of this task, or no client could read it.
        """
        events, self._shown = _as_changes(event, self._shown) if self._shown is not None else [event], None
        if not events:
            return not self._writer.lost.is_set()
        return all([await self._append(each) for each in events])

    async def _append(self, event: Event) -> bool:
        self._note_readers()
        try:
            taken = await self._writer.append(event)
        except (Fenced, Suspended, StorageError):
            return self._drop(self._writer.reason)
        if not taken:
            return self._drop(Closed.ENDED if self._writer.settled else None)
        return True

    def _note_readers(self) -> None:
        """Close when the last stream was closed by its client; open again when there is a new one."""
        if self._readers():
            self._streamed = True
            self._open()
        elif self._streamed and not self._writer.settled:
            self._close(Closed.UNREAD)

    def _drop(self, reason: Closed | Loss | None) -> bool:
        """Note a refused event. One without a reason repeats the task or its state, as in every turn, and is not counted."""
        self.dropped += 1
        if reason is not None:
            count(catalogue.DROPPED, reason=reason)
            self._close(reason)
        return False

    def _close(self, reason: Closed | Loss) -> None:
        if self.closed is None:
            log.warning("event_queue.closed", message="Queue is closed", task_id=self._task_id, reason=reason)
        self.closed = reason

    def _open(self) -> None:
        if self.closed is Closed.UNREAD:
            self.closed = None
            log.info("event_queue.reopened", message="Queue reopened", task_id=self._task_id)


def _as_changes(event: Event, shown: Task) -> list[Event]:
    """The first event of an executor as events after `shown`: its task as artifacts and status, its message as the end.

    Not every executor declares whether it answers with a task or with a message. The task is published before, so that a client
    whose turn waits sees it at once. Pure.
    """
    if isinstance(event, Message):
        answered = TaskStatus(state=TaskState.TASK_STATE_COMPLETED, message=event)
        return [TaskStatusUpdateEvent(task_id=shown.id, context_id=shown.context_id, status=answered)]
    if not isinstance(event, Task) or event.id != shown.id:
        return [event]
    changes: list[Event] = [
        TaskArtifactUpdateEvent(task_id=shown.id, context_id=shown.context_id, artifact=artifact)
        for artifact in event.artifacts
    ]
    said = event.status.HasField("message") or event.HasField("metadata")
    if said or event.status.state != shown.status.state:
        status = TaskStatusUpdateEvent(task_id=shown.id, context_id=shown.context_id, status=event.status)
        if event.HasField("metadata"):
            status.metadata.CopyFrom(event.metadata)
        changes.append(status)
    return changes
