"""Events of a turn that no executor writes: the task as it is accepted, and ends. What a user sees of an error is one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import structlog
from a2a.types.a2a_pb2 import Message, Part, Role, Task, TaskState, TaskStatus, TaskStatusUpdateEvent

from utils.a2a_common.protocol.extensions import ERROR_EXTENSION, error_payload
from utils.a2a_common.tasks.turn import Turn
from utils.errors import CRASHED, INTERNAL, PlatformError, StorageError, StorageFull
from utils.events import Failed

log = structlog.get_logger(__name__)

UNFORESEEN = Failed(INTERNAL, CRASHED)
"""The sentence of an unexpected error."""

NOT_STORED = "The answer could not be stored, so that it may be incomplete. Try again; if it stays so, tell an operator."


def failure_of(error: Exception) -> Failed:
    """The event for any error: with its own sentence, or a general one where it was not foreseen."""
    from utils.llm.classify import classify

    known = error if isinstance(error, PlatformError) else classify(error)
    if known is None:
        log.error("turn.crashed", code=INTERNAL, exc_info=error)
        return UNFORESEEN
    log.warning("turn.failed", code=known.code, exc_info=error)
    return failure(known)


def failure(error: PlatformError) -> Failed:
    """The event for an error whose sentence may be shown."""
    return Failed(error.code, error.message, retryable=error.retryable)


def copy_of(task: Task | None) -> Task | None:
    """A copy of a task, if there is one."""
    if task is None:
        return None
    copy = Task()
    copy.CopyFrom(task)
    return copy


def submitted(turn: Turn) -> Task:
    """The task of a turn that has not begun, with the message in its history."""
    status = TaskStatus(state=TaskState.TASK_STATE_SUBMITTED)
    return Task(id=turn.task_id, context_id=turn.context_id, status=status, history=[turn.request.message])


def failed_status(task_id: str, context_id: str, failure: Failed) -> TaskStatusUpdateEvent:
    """The status of a task that failed, with a sentence for people and the error extension for programs."""
    sentence = Message(
        message_id=f"{task_id}-end",
        role=Role.ROLE_AGENT,
        task_id=task_id,
        context_id=context_id,
        parts=[Part(text=failure.message)],
    )
    status = TaskStatus(state=TaskState.TASK_STATE_FAILED, message=sentence)
    return _status(task_id, context_id, status, {ERROR_EXTENSION: error_payload(failure, "")})


def storage_end(head: Task, now: float, cause: StorageError) -> TaskStatusUpdateEvent:
    """The event that ends a task whose events could not be stored, with the code of that; says where the disk was full."""
    full = isinstance(cause, StorageFull)
    sentence = f"The answer may be incomplete. {cause.message}" if full else NOT_STORED
    event = failed_status(head.id, head.context_id, Failed(cause.code, sentence, cause.retryable))
    event.status.timestamp.FromNanoseconds(round(now * 1e9))
    return event


def canceled_status(task_id: str, context_id: str) -> TaskStatusUpdateEvent:
    """The status of a task that was canceled."""
    return _status(task_id, context_id, TaskStatus(state=TaskState.TASK_STATE_CANCELED))


def working_status(task_id: str, context_id: str, metadata: Mapping[str, Any]) -> TaskStatusUpdateEvent:
    """A status of a task that is worked on, with metadata."""
    return _status(task_id, context_id, TaskStatus(state=TaskState.TASK_STATE_WORKING), metadata)


def _status(
    task_id: str, context_id: str, status: TaskStatus, metadata: Mapping[str, Any] | None = None
) -> TaskStatusUpdateEvent:
    event = TaskStatusUpdateEvent(task_id=task_id, context_id=context_id, status=status)
    if metadata:
        event.metadata.update(dict(metadata))
    return event
