"""Guard between an executor and the A2A event queue.

A sink belongs to one run of one task. It lets through nothing after a terminal or interrupted
status, notices a queue that closed (the SDK only logs that, once per event), says so once, counts
what was dropped, and cannot wait for ever on a queue that nobody empties. `gone` is set when nobody
takes events any more: a run that nobody can hear is stopped by the executor.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import structlog

from utils.observability import catalogue
from utils.observability.metrics import count

if TYPE_CHECKING:
    from a2a.server.events import EventQueue
    from a2a.types.a2a_pb2 import Artifact, Message, Task, TaskState

    from utils.a2a_common.protocol.task_tree import TaskTree

log = structlog.get_logger(__name__)

_ENQUEUE_SECONDS = 30.0
"""Longest wait for a place in the queue; the SDK's own wait has no end (1,024 places)."""


class EventSink:
    """Publishes one task's events.

    Attributes:
        gone: Set while nobody takes events.
        dropped: Events that were not delivered.
    """

    def __init__(
        self, queue: EventQueue, task_id: str, context_id: str, *, seconds: float = _ENQUEUE_SECONDS
    ) -> None:
        self._queue = queue
        self._seconds = seconds
        self._task_id = task_id
        self._context_id = context_id
        self._ended = False
        self._closed = False
        self._unsent: Task | None = None
        self._lock = asyncio.Lock()
        self.gone = asyncio.Event()
        self.dropped = 0
        self.tree: TaskTree | None = None

    @property
    def ended(self) -> bool:
        """Whether a terminal or interrupted status was published."""
        return self._ended

    async def task(self, task: Task) -> None:
        """Publish the task itself; must be the first event of a new task."""
        await self._send(task)

    def task_later(self, task: Task) -> None:
        """Hold the task back until something else than a message is published: an agent that answers with one has none."""
        self._unsent = task

    async def message(self, message: Message, *, metadata: dict[str, Any] | None = None) -> None:
        """Publish the whole answer as one message, which closes the sink; where a task was published, as its end."""
        from a2a.types.a2a_pb2 import TaskState

        if self._unsent is None:
            await self.status(TaskState.TASK_STATE_COMPLETED, message=message, metadata=metadata)
            return
        message.context_id = self._context_id
        await self._send(message, ends=True)

    async def status(
        self, state: TaskState, *, message: Message | None = None, metadata: dict[str, Any] | None = None
    ) -> None:
        """Publish a status. One that ends the run closes the sink."""
        from a2a.types.a2a_pb2 import TaskState, TaskStatus, TaskStatusUpdateEvent

        await self._begin()
        status = TaskStatus(state=state, message=message)
        status.timestamp.GetCurrentTime()
        working = (TaskState.TASK_STATE_WORKING, TaskState.TASK_STATE_SUBMITTED)
        if self.tree is not None:
            metadata = {**self.tree.facts(ends=state not in working), **(metadata or {})} or None
        event = TaskStatusUpdateEvent(
            task_id=self._task_id, context_id=self._context_id, status=status, metadata=metadata
        )
        await self._send(event, ends=state not in working)

    async def artifact(self, artifact: Artifact, *, append: bool = False, last: bool = True) -> None:
        """Publish an artifact or a chunk of one."""
        from a2a.types.a2a_pb2 import TaskArtifactUpdateEvent

        await self._begin()
        await self._send(
            TaskArtifactUpdateEvent(
                task_id=self._task_id,
                context_id=self._context_id,
                artifact=artifact,
                append=append,
                last_chunk=last,
            )
        )

    async def _begin(self) -> None:
        """Publish the task that was held back, and that it is worked on."""
        from a2a.types.a2a_pb2 import TaskState

        task, self._unsent = self._unsent, None
        if task is not None:
            await self._send(task)
            await self.status(TaskState.TASK_STATE_WORKING)

    async def _send(self, event: Any, *, ends: bool = False) -> None:
        async with self._lock:
            if self._ended:
                self._drop("ended")
            elif await self._safe_enqueue_event(self._queue, event):
                self._ended = ends

    async def _safe_enqueue_event(self, event_queue: EventQueue, event: Any) -> bool:
        """Put an event into the queue; whether it got there.

        The first event that a closed queue drops is logged, later ones are counted only. Any other
        error of the queue is raised.
        """
        if _is_closed(event_queue):
            return self._note_closed()
        try:
            async with asyncio.timeout(self._seconds):
                await event_queue.enqueue_event(event)
        except TimeoutError:
            return self._note_stuck()
        if _is_closed(event_queue):  # while it was on its way
            return self._note_closed()
        self._note_open()
        return True

    def _note_closed(self) -> bool:
        self._drop("closed")
        if not self._closed:
            self._closed = True
            self.gone.set()
            log.warning("event_queue.closed", message="Queue is closed", task_id=self._task_id)
        return False

    def _note_stuck(self) -> bool:
        self._drop("stuck")
        if not self.gone.is_set():
            self.gone.set()
            log.warning("event_queue.stuck", task_id=self._task_id, seconds=self._seconds)
        return False

    def _note_open(self) -> None:
        if self._closed:
            self._closed = False
            self.gone.clear()
            log.info("event_queue.reopened", message="Queue reopened", task_id=self._task_id)

    def _drop(self, reason: str) -> None:
        self.dropped += 1
        count(catalogue.DROPPED, reason=reason)


def _is_closed(queue: EventQueue) -> bool:
    closed = getattr(queue, "is_closed", None)
    return bool(closed()) if callable(closed) else False
