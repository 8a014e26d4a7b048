"""`TaskReader`: tasks as clients see them: complete, or an error if a value cannot be represented."""

from __future__ import annotations

from a2a.types.a2a_pb2 import ListTasksResponse, Task
from a2a.utils.errors import TaskNotFoundError, UnsupportedOperationError

from utils.a2a_common.protocol.json_values import complaint_about
from utils.a2a_common.tasks.entries import Snapshot
from utils.a2a_common.tasks.log import TaskLog
from utils.persistence.unreadable import UNREADABLE, stand_in


class TaskReader:
    """Reads tasks of the log.

    Args:
        log: The tasks.
    """

    def __init__(self, log: TaskLog) -> None:
        self._log = log

    async def head(self, task_id: str, owner: str) -> Task:
        """The task without the parts of its artifacts; not to be changed.

        Raises:
            TaskNotFoundError: The owner has no such task.
        """
        task = await self._log.head(task_id, owner)
        if task is None:
            raise TaskNotFoundError
        return task

    async def snapshot(self, task_id: str, owner: str) -> Snapshot:
        """The task with its artifacts, and its last event.

        Raises:
            TaskNotFoundError: The owner has no such task.
            UnsupportedOperationError: It was stored before its values were checked, and cannot be sent.
        """
        snapshot = await self._log.snapshot(task_id, owner)
        if snapshot is None:
            raise TaskNotFoundError
        complaint = complaint_about(snapshot.task)
        if complaint is not None:
            self._log.unreadable.note(task_id, complaint)
            raise UnsupportedOperationError(UNREADABLE)
        return snapshot

    def with_stand_ins(self, page: ListTasksResponse) -> None:
        """Put a placeholder into a page for each task that would break the answer."""
        for task in page.tasks:
            complaint = complaint_about(task)
            if complaint is not None:
                self._log.unreadable.note(task.id, complaint)
                task.CopyFrom(stand_in(task.id, task.context_id, task.status))
