"""The final status of a task whose events could not be stored."""

from __future__ import annotations

from a2a.types.a2a_pb2 import Message, Part, Role, Task, TaskState, TaskStatus, TaskStatusUpdateEvent

from utils.a2a_common.protocol.extensions import ERROR_EXTENSION, error_payload
from utils.errors import StorageError, StorageFull
from utils.events import Failed

SENTENCE = "The answer could not be stored, so that it may be incomplete. Try again; if it stays so, tell an operator."


def storage_end(head: Task, now: float, cause: StorageError) -> TaskStatusUpdateEvent:
    """The event that ends a task as failed, with the code of a storage that failed; says where the disk was full."""
    sentence = (
        f"The answer may be incomplete. {cause.message}" if isinstance(cause, StorageFull) else SENTENCE
    )
    failure = Failed(cause.code, sentence, cause.retryable)
    message = Message(
        message_id=f"{head.id}-end",
        role=Role.ROLE_AGENT,
        task_id=head.id,
        context_id=head.context_id,
        parts=[Part(text=sentence)],
    )
    status = TaskStatus(state=TaskState.TASK_STATE_FAILED, message=message)
    status.timestamp.FromNanoseconds(round(now * 1e9))
    return TaskStatusUpdateEvent(
        task_id=head.id,
        context_id=head.context_id,
        status=status,
        metadata={ERROR_EXTENSION: error_payload(failure, "")},
    )
