"""The guarded way from an executor to the A2A event queue.

A sink belongs to one run of one task. It lets through nothing after a terminal or interrupted
status, notices a queue that closed (the SDK only logs that, once per event), says so once, counts
what was dropped, and cannot wait for ever on a queue that nobody empties.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import structlog

if TYPE_CHECKING:
    from a2a.server.events import EventQueue
    from a2a.types.a2a_pb2 import Artifact, Message, Task, TaskState

log = structlog.get_logger(__name__)

_ENQUEUE_SECONDS = 30.0
"""Longest wait for a place in the queue; the SDK's own wait has no end (1,024 places)."""


class EventSink:
    """Publishes one task's events."""

    def __init__(self, queue: EventQueue, task_id: str, context_id: str) -> None:
        self._queue = queue
        self._task_id = task_id
        self._context_id = context_id
        self._ended = False
        self._closed = False
        self._lock = asyncio.Lock()
        self.dropped = 0

    @property
    def ended(self) -> bool:
        """Whether a terminal or interrupted status was published."""
        return self._ended

    async def task(self, task: Task) -> None:
        """Publish the task itself; must be the first event of a new task."""
        await self._send(task)

    async def status(
        self, state: TaskState, *, message: Message | None = None, metadata: dict[str, Any] | None = None
    ) -> None:
        """Publish a status. One that ends the run closes the sink."""
        from a2a.types.a2a_pb2 import TaskState, TaskStatus, TaskStatusUpdateEvent

        status = TaskStatus(state=state, message=message)
        status.timestamp.GetCurrentTime()
        working = (TaskState.TASK_STATE_WORKING, TaskState.TASK_STATE_SUBMITTED)
        event = TaskStatusUpdateEvent(
            task_id=self._task_id, context_id=self._context_id, status=status, metadata=metadata
        )
        await self._send(event, ends=state not in working)

    async def artifact(self, artifact: Artifact, *, append: bool = False, last: bool = True) -> None:
        """Publish an artifact or a chunk of one."""
        from a2a.types.a2a_pb2 import TaskArtifactUpdateEvent

        await self._send(
            TaskArtifactUpdateEvent(
                task_id=self._task_id,
                context_id=self._context_id,
                artifact=artifact,
                append=append,
                last_chunk=last,
            )
        )

    async def _send(self, event: Any, *, ends: bool = False) -> None:
        async with self._lock:
            if self._ended:
                self._drop("ended")
                return
            if self._is_closed():
                self._note_closed()
                return
            try:
                await asyncio.wait_for(self._queue.enqueue_event(event), _ENQUEUE_SECONDS)
            except TimeoutError:
                self._drop("stuck")
                log.warning("event_queue.stuck", task_id=self._task_id, seconds=_ENQUEUE_SECONDS)
                return
            self._note_open()
            self._ended = ends

    def _is_closed(self) -> bool:
        closed = getattr(self._queue, "is_closed", None)
        return bool(closed()) if callable(closed) else False

    def _note_closed(self) -> None:
        self._drop("closed")
        if not self._closed:
            self._closed = True
            log.warning("Queue is closed", event_name="event_queue.closed", task_id=self._task_id)

    def _note_open(self) -> None:
        if self._closed:
            self._closed = False
            log.info("Queue reopened", event_name="event_queue.reopened", task_id=self._task_id)

    def _drop(self, _reason: str) -> None:
        self.dropped += 1
