"""Event queue that enforces the order of task states."""

from __future__ import annotations

import asyncio

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

from utils.a2a_common.protocol.json_values import complaint_about
from utils.errors import ProtocolViolation
from utils.observability import catalogue
from utils.observability.metrics import count
from utils.persistence.task_states import INTERRUPTED, TERMINAL

log = structlog.get_logger(__name__)


class GuardedQueue(EventQueue):
    """Passes events on until the turn is settled, and drops what comes after.

    A turn is settled by a terminal or interrupted status, or by the one message of an agent that
    answers without a task. The SDK stores and streams a step backwards as it comes; here it is
    dropped and logged once.
    """

    def __init__(self, inner: EventQueue, task: Task | None) -> None:
        self._inner = inner
        self._lock = asyncio.Lock()
        self._dropped = 0
        self.state: TaskState | None = None
        self.settled = False
        self.has_task = task is not None

    async def enqueue_event(self, event: Event) -> None:
        """Pass `event` on, or drop it when the turn is settled or it steps back.

        Raises:
            ProtocolViolation: It holds a value that would break every answer with its task.
        """
        complaint = complaint_about(event)
        if complaint is not None:
            raise ProtocolViolation(f"The agent gave no valid answer: it {complaint}.")
        async with self._lock:
            if not self._admits(event):
                self._drop(event)
                return
            if self.is_closed():
                return  # the sink has said so; the SDK would say it again for each event
            self._note(event)
            await self._inner.enqueue_event(event)

    def is_closed(self) -> bool:
        """Whether the SDK's queue takes no more events: its consumer died, or the server stops."""
        closed = getattr(self._inner, "is_closed", None)
        return bool(closed()) if callable(closed) else False

    def close(self) -> None:
        """Settle the turn: nothing is passed on from now."""
        self.settled = True

    def _admits(self, event: Event) -> bool:
        if self.settled:
            return False
        if isinstance(event, Task):
            return not self.has_task
        if isinstance(event, TaskStatusUpdateEvent):
            back = event.status.state == TaskState.TASK_STATE_SUBMITTED
            return not (back and self.state == TaskState.TASK_STATE_WORKING)
        return True

    def _note(self, event: Event) -> None:
        if isinstance(event, Message):
            self.settled = True
        elif isinstance(event, Task):
            self.has_task = True
            self._note_status(event.status)
        elif isinstance(event, TaskStatusUpdateEvent):
            self._note_status(event.status)

    def _note_status(self, status: TaskStatus) -> None:
        if not status.HasField("timestamp"):
            status.timestamp.GetCurrentTime()
        self.state = status.state
        self.settled = status.state in TERMINAL or status.state in INTERRUPTED

    def _drop(self, event: Event) -> None:
        self._dropped += 1
        count(catalogue.DROPPED, reason="ended")
        if self._dropped == 1:
            kind = type(event).__name__
            task_id = event.task_id if isinstance(event, TaskArtifactUpdateEvent) else ""
            log.warning("event_queue.dropped_after_end", kind=kind, task_id=task_id)
