"""`EventSink`: makes the A2A events of one run of one task."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from a2a.server.events import EventQueue
    from a2a.types.a2a_pb2 import Artifact, Message, Task, TaskState

    from utils.a2a_common.protocol.task_tree import TaskTree


class EventSink:
    """Publishes one task's events.

    Attributes:
        tree: The tasks below this one; each status carries what changed in it.
    """

    def __init__(self, queue: EventQueue, task_id: str, context_id: str) -> None:
        self._queue = queue
        self._task_id = task_id
        self._context_id = context_id
        self._unsent: Task | None = None
        self.tree: TaskTree | None = None

    async def task(self, task: Task) -> None:
        """Publish the task itself; must be the first event of a new task."""
        await self._safe_enqueue_event(self._queue, task)

    def task_later(self, task: Task) -> None:
        """Hold the task back until something else than a message is published: an agent that answers with one has none."""
        self._unsent = task

    async def message(self, message: Message, *, metadata: dict[str, Any] | None = None) -> None:
        """Publish the whole answer as one message; where a task was published, as its end."""
        from a2a.types.a2a_pb2 import TaskState

        if self._unsent is None:
            await self.status(TaskState.TASK_STATE_COMPLETED, message=message, metadata=metadata)
            return
        message.context_id = self._context_id
        await self._safe_enqueue_event(self._queue, message)

    async def status(
        self, state: TaskState, *, message: Message | None = None, metadata: dict[str, Any] | None = None
    ) -> None:
        """Publish a status."""
        from a2a.types.a2a_pb2 import TaskState, TaskStatus, TaskStatusUpdateEvent

        await self._begin()
        working = (TaskState.TASK_STATE_WORKING, TaskState.TASK_STATE_SUBMITTED)
        if self.tree is not None:
            metadata = {**self.tree.facts(ends=state not in working), **(metadata or {})} or None
        status = TaskStatus(state=state, message=message)
        event = TaskStatusUpdateEvent(
            task_id=self._task_id, context_id=self._context_id, status=status, metadata=metadata
        )
        await self._safe_enqueue_event(self._queue, event)

    async def artifact(self, artifact: Artifact, *, append: bool = False, last: bool = True) -> None:
        """Publish an artifact or a chunk of one."""
        from a2a.types.a2a_pb2 import TaskArtifactUpdateEvent

        await self._begin()
        await self._safe_enqueue_event(
            self._queue,
            TaskArtifactUpdateEvent(
                task_id=self._task_id,
                context_id=self._context_id,
                artifact=artifact,
                append=append,
                last_chunk=last,
            ),
        )

    async def _begin(self) -> None:
        """Publish the task that was held back, and that it is worked on."""
        from a2a.types.a2a_pb2 import TaskState

        task, self._unsent = self._unsent, None
        if task is not None:
            await self.task(task)
            await self.status(TaskState.TASK_STATE_WORKING)

    async def _safe_enqueue_event(self, event_queue: EventQueue, event: Any) -> None:
        """Put an event into the queue: the only place where an agent's events leave for the task log.

        A closed queue drops it, and says so once for the task; any other error is raised.
        """
        await event_queue.enqueue_event(event)
