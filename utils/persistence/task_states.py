"""Which states of a task end it."""

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
"""No state follows these."""

CUT_SHORT = TERMINAL - {TaskState.TASK_STATE_COMPLETED}
"""The task ended without its whole answer, and says so."""

INTERRUPTED = frozenset({TaskState.TASK_STATE_INPUT_REQUIRED, TaskState.TASK_STATE_AUTH_REQUIRED})
"""The task waits for its user."""

OPEN = frozenset({TaskState.TASK_STATE_SUBMITTED, TaskState.TASK_STATE_WORKING})
"""A process works on the task."""
