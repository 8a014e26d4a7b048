"""`EventSink`: makes the A2A events of one run of one task."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from utils.a2a_common.protocol.extensions import (
    ACTIVITY_PLAN,
    PLAN_ARTIFACT,
    TRACE_EXTENSION,
    plan_payload,
)
from utils.a2a_common.protocol.left_open import closed_plan
from utils.a2a_common.protocol.parts import data_part

if TYPE_CHECKING:
    from a2a.server.events import EventQueue
    from a2a.types.a2a_pb2 import Artifact, Message, Task, TaskState

    from utils.a2a_common.protocol.task_tree import TaskTree
    from utils.events import PlanUpdated


class EventSink:
    """Publishes one task's events.

    Attributes:
        tree: The tasks below this one; each status carries what changed in it.
        plan_artifact: The plan as its artifact shows it; `None` where the client asked for none.
        trace_id: Sent with the end of a task that is canceled; other ends have it from the publisher.
    """

    def __init__(self, queue: EventQueue, task_id: str, context_id: str) -> None:
        self._queue = queue
        self._task_id = task_id
        self._context_id = context_id
        self._unsent: Task | None = None
        self.tree: TaskTree | None = None
        self.plan_artifact: PlanUpdated | None = None
        self.trace_id = ""

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
        if state == TaskState.TASK_STATE_CANCELED:
            await self._close_plan()
            if self.trace_id:
                metadata = {TRACE_EXTENSION: {"trace_id": self.trace_id}, **(metadata or {})}
        working = (TaskState.TASK_STATE_WORKING, TaskState.TASK_STATE_SUBMITTED)
        if self.tree is not None:
            metadata = {**self.tree.facts(ends=state not in working), **(metadata or {})} or None
        status = TaskStatus(state=state, message=message)
        event = TaskStatusUpdateEvent(
            task_id=self._task_id, context_id=self._context_id, status=status, metadata=metadata
        )
        await self._safe_enqueue_event(self._queue, event)

    async def plan(self, plan: PlanUpdated, *, as_artifact: bool) -> None:
        """Publish the plan with a status, and as an artifact where the client asked for it."""
        from a2a.types.a2a_pb2 import TaskState

        await self.status(TaskState.TASK_STATE_WORKING, metadata={ACTIVITY_PLAN: plan_payload(plan)})
        if as_artifact:
            await self._show_plan(plan)

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

    async def _show_plan(self, plan: PlanUpdated) -> None:
        from a2a.types.a2a_pb2 import Artifact

        self.plan_artifact = plan
        part = data_part(plan_payload(plan))
        await self.artifact(Artifact(artifact_id=PLAN_ARTIFACT, name=PLAN_ARTIFACT, parts=[part]))

    async def _close_plan(self) -> None:
        """Show no step as open in the artifact of a task that is canceled. The log closes what is in the metadata."""
        if self.plan_artifact is not None and (closed := closed_plan(self.plan_artifact)) is not None:
            await self._show_plan(closed)

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
