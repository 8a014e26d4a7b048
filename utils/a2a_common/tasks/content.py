"""The content of a task's artifacts, read from the store into the head of the task."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from a2a.types.a2a_pb2 import Task
from a2a.utils.errors import UnsupportedOperationError
from google.protobuf.message import DecodeError

from utils.a2a_common.tasks.assembly import assemble
from utils.persistence.task_log_store import CONTENT, Record, TaskLogStore
from utils.persistence.unreadable import UNREADABLE, Noted

InThread = Callable[..., Awaitable[Any]]

LONG = 1000
"""Number of records above which artifacts are assembled in a thread: these take about 3 ms."""


class Content:
    """Fills tasks with their artifacts.

    Args:
        store: Where the events of tasks are stored.
        unreadable: Notes each task whose events cannot be read.
        in_thread: Runs a function that takes long outside the event loop.
    """

    def __init__(self, store: TaskLogStore, unreadable: Noted, in_thread: InThread) -> None:
        self._store = store
        self._unreadable = unreadable
        self._in_thread = in_thread

    async def fill(self, task: Task, stored: int, waiting: Sequence[Record]) -> None:
        """Fill the artifacts of a task from the records stored up to `stored` and from those that wait to be stored.

        Raises:
            UnsupportedOperationError: An event cannot be read.
            StorageError: The storage failed.
        """
        records = [*await self._records(task.id, stored), *waiting]
        try:
            if len(records) > LONG:
                await self._in_thread(assemble, task, records)
            else:
                assemble(task, records)
        except DecodeError as error:
            self._unreadable.note(task.id, type(error).__name__)
            raise UnsupportedOperationError(UNREADABLE) from error

    async def _records(self, task_id: str, last: int) -> list[Record]:
        found: list[Record] = []
        after = 0
        while after < last:
            records = await self._store.events(task_id, after=after, limit=4 * LONG, kinds=CONTENT)
            if not records:
                break
            after = records[-1].sequence
            found += [record for record in records if record.sequence <= last]
        return found
