"""What an executor publishes first, where its task was shown while the turn waited: as changes of that task. Pure.

Not every executor says whether it answers with a task or with one message, and a client that waits is not left without
a sign of life until it does.
"""

from __future__ import annotations

from a2a.server.events.event_queue import Event
from a2a.types.a2a_pb2 import (
    Message,
    Task,
    TaskArtifactUpdateEvent,
    TaskState,
    TaskStatus,
    TaskStatusUpdateEvent,
)


def as_changes(event: Event, shown: Task) -> list[Event]:
    """The first event of an executor as events after `shown`: its task as artifacts and status, its message as the end."""
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
