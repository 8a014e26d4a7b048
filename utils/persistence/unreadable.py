"""Placeholder for a stored task that cannot be read, so that it does not break a list of tasks."""

from __future__ import annotations

from typing import cast

import structlog
from a2a.types.a2a_pb2 import Message, Part, Role, Task, TaskState, TaskStatus

log = structlog.get_logger(__name__)

UNREADABLE = "This task cannot be shown: what is stored of it cannot be read, or JSON cannot carry it. Ask again in a new task."
"""The message of its status in a list, and the error of an operation on it."""


def stand_in(task_id: str, context_id: str, status: TaskStatus) -> Task:
    """A task with the id, the context, the state and the time of one that cannot be shown."""
    message = Message(
        message_id=f"{task_id}-unreadable",
        role=Role.ROLE_AGENT,
        task_id=task_id,
        parts=[Part(text=UNREADABLE)],
    )
    shown = TaskStatus(state=status.state, message=message)
    shown.timestamp.CopyFrom(status.timestamp)
    return Task(id=task_id, context_id=context_id, status=shown)


def status_of(state: int, nanoseconds: int) -> TaskStatus:
    """The status in a row's columns."""
    status = TaskStatus(state=cast("TaskState", state))
    status.timestamp.FromNanoseconds(nanoseconds)
    return status


class Noted:
    """Logs each unreadable task once, however often it is listed."""

    def __init__(self) -> None:
        self._known: set[str] = set()

    def note(self, task_id: str, reason: str) -> None:
        """Log a task, unless it was logged before. Its content is not logged."""
        if task_id not in self._known:
            self._known.add(task_id)
            log.error("task.unreadable", task_id=task_id, reason=reason)
