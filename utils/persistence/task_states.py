"""Groups of task states."""

from __future__ import annotations

from a2a.types.a2a_pb2 import TaskState

TERMINAL = frozenset(
    {
        TaskState.TASK_STATE_COMPLETED,
        TaskState.TASK_STATE_CANCELED,
        TaskState.TASK_STATE_FAILED,
        TaskState.TASK_STATE_REJECTED,
    }
)
"""Terminal states."""

CUT_SHORT = TERMINAL - {TaskState.TASK_STATE_COMPLETED}
"""Terminal states of a task with an incomplete answer."""

INTERRUPTED = frozenset({TaskState.TASK_STATE_INPUT_REQUIRED, TaskState.TASK_STATE_AUTH_REQUIRED})
"""The task waits for its user."""

OPEN = frozenset({TaskState.TASK_STATE_SUBMITTED, TaskState.TASK_STATE_WORKING})
"""A process works on the task."""
