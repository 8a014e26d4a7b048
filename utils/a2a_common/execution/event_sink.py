"""`EventSink`: makes the A2A events of one run of one task: its statuses, its artifacts, and the text of its answer.

The first piece of a text is sent at once, later ones are coalesced. What waits of it goes before every other event.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from utils.a2a_common.protocol.extensions import (
    ACTIVITY_PLAN,
    ARTIFACT_EXTENSION,
    PLAN_ARTIFACT,
    RESPONSE_ARTIFACT,
    TRACE_EXTENSION,
    plan_payload,
)
from utils.a2a_common.protocol.left_open import closed_plan
from utils.a2a_common.protocol.media_modes import ALL, MARKDOWN, Accepted
from utils.a2a_common.protocol.parts import data_part

if TYPE_CHECKING:
    from a2a.server.events import EventQueue
    from a2a.types.a2a_pb2 import Artifact, Message, Task, TaskState

    from utils.a2a_common.protocol.task_tree import TaskTree
    from utils.events import PlanUpdated


FLUSH_SECONDS = 0.08
"""Longest time that text waits: below what a reader sees as a stutter."""

FLUSH_CHARACTERS = 512
"""Most text that waits."""


class EventSink:
    """Publishes one task's events.

    Args:
        queue: Takes them.
        task_id: The task.
        context_id: Its conversation.
        accepted: What the client accepts.

    Attributes:
        response: The text of the answer.
        tree: The tasks below this one; each status carries what changed in it.
        plan_artifact: The plan as its artifact shows it; `None` where the client asked for none.
        trace_id: Sent with the end of a task that is canceled; other ends have it from the publisher.
    """

    def __init__(self, queue: EventQueue, task_id: str, context_id: str, accepted: Accepted = ALL) -> None:
        self._queue = queue
        self._task_id = task_id
        self._context_id = context_id
        self._unsent: Task | None = None
        self.response = ResponseStream(self._artifact, accepted.text if accepted.takes_text else None)
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
        """Publish a status; the text of the answer ends with one that ends the turn. A turn that is canceled has discarded it."""
        from a2a.types.a2a_pb2 import TaskState

        if state != TaskState.TASK_STATE_CANCELED:
            await self.response.flush(last=_ends(state))
        await self._status(state, message, metadata)

    async def plan(self, plan: PlanUpdated, *, as_artifact: bool) -> None:
        """Publish the plan with a status, and as an artifact where the client asked for it."""
        from a2a.types.a2a_pb2 import TaskState

        await self.status(TaskState.TASK_STATE_WORKING, metadata={ACTIVITY_PLAN: plan_payload(plan)})
        if as_artifact:
            await self._show_plan(plan)

    async def artifact(self, artifact: Artifact, *, append: bool = False, last: bool = True) -> None:
        """Publish an artifact or a chunk of one."""
        await self.response.flush()
        await self._artifact(artifact, append=append, last=last)

    async def _status(
        self, state: TaskState, message: Message | None = None, metadata: dict[str, Any] | None = None
    ) -> None:
        from a2a.types.a2a_pb2 import TaskState, TaskStatus, TaskStatusUpdateEvent

        await self._begin()
        if state == TaskState.TASK_STATE_CANCELED:
            await self._close_plan()
            if self.trace_id:
                metadata = {TRACE_EXTENSION: {"trace_id": self.trace_id}, **(metadata or {})}
        if self.tree is not None:
            metadata = {**self.tree.facts(ends=_ends(state)), **(metadata or {})} or None
        status = TaskStatus(state=state, message=message)
        event = TaskStatusUpdateEvent(
            task_id=self._task_id, context_id=self._context_id, status=status, metadata=metadata
        )
        await self._safe_enqueue_event(self._queue, event)

    async def _artifact(self, artifact: Artifact, *, append: bool = False, last: bool = True) -> None:
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
        await self._artifact(Artifact(artifact_id=PLAN_ARTIFACT, name=PLAN_ARTIFACT, parts=[part]))

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
            await self._status(TaskState.TASK_STATE_WORKING)

    async def _safe_enqueue_event(self, event_queue: EventQueue, event: Any) -> None:
        """Put an event into the queue: the only place where an agent's events leave for the task log.

        A closed queue drops it, and says so once for the task; any other error is raised.
        """
        await event_queue.enqueue_event(event)


def _ends(state: TaskState) -> bool:
    from a2a.types.a2a_pb2 import TaskState

    return state not in (TaskState.TASK_STATE_WORKING, TaskState.TASK_STATE_SUBMITTED)


class ResponseStream:
    """Publishes artifact `response`: first chunk `append=false`, then `append=true`, the last marked.

    Args:
        publish: Takes each chunk, with `append` and `last`.
        media_type: Of the text; `None` for a client that accepts no text, to which none is sent.

    Attributes:
        unsent: Whether there was text that the client does not accept.
    """

    def __init__(self, publish: Callable[..., Awaitable[None]], media_type: str | None = MARKDOWN) -> None:
        self._publish = publish
        self._media_type = media_type
        self.unsent = False
        self._buffer = ""
        self._origin = ""
        self._started = False
        self._opened = False
        self._timer: asyncio.Task[None] | None = None
        self._lock = asyncio.Lock()

    async def write(self, text: str, origin: str = "") -> None:
        """Add text; it is published now or within `FLUSH_SECONDS`. `origin` is the agent whose words an answer begins with."""
        if self._media_type is None:
            self.unsent = True
            return
        self._buffer += text
        if not self._opened:
            self._origin = origin
        if not self._opened or len(self._buffer) >= FLUSH_CHARACTERS:
            await self.flush()
        elif self._timer is None:
            self._timer = asyncio.create_task(self._flush_later())

    def restart(self) -> None:
        """Forget what was said: the next chunk replaces the artifact."""
        self._buffer = ""
        self._opened = False

    async def flush(self, *, last: bool = False) -> None:
        """Publish what waits. With `last`, close the artifact, if there is one."""
        self._stop_timer()
        async with self._lock:
            text, self._buffer = self._buffer, ""
            if not text and not (last and self._started):
                return
            append, self._opened, self._started = self._opened, True, True
            await self._publish(self._chunk(text, append=append), append=append, last=last)

    def discard(self) -> None:
        """Stop publishing: nothing that waits will be sent."""
        self._stop_timer()
        self._buffer = ""

    def _chunk(self, text: str, *, append: bool) -> Artifact:
        from a2a.types.a2a_pb2 import Artifact, Part

        artifact = Artifact(
            artifact_id=RESPONSE_ARTIFACT,
            name=RESPONSE_ARTIFACT,
            parts=[Part(text=text, media_type=self._media_type)],
        )
        if self._origin and not append:
            artifact.metadata.update({ARTIFACT_EXTENSION: {"origin": self._origin}})
            artifact.extensions.append(ARTIFACT_EXTENSION)
        return artifact

    async def _flush_later(self) -> None:
        await asyncio.sleep(FLUSH_SECONDS)
        self._timer = None
        await self.flush()

    def _stop_timer(self) -> None:
        timer, self._timer = self._timer, None
        if timer is not None:
            timer.cancel()
