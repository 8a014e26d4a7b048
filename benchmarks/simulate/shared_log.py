"""The store of task logs as several processes share it: each is told what the others write."""

from __future__ import annotations

from collections.abc import AsyncGenerator

from benchmarks.simulate.notices import Notices
from benchmarks.simulate.process import Process
from benchmarks.simulate.takeovers import Takeovers, WatchedStore
from utils.persistence.task_log_memory import MemoryTaskLogStore
from utils.persistence.task_log_store import Stored, Write

CHANNEL = "tasks"


class SharedStore(WatchedStore):
    """The same store as one process uses it.

    Args:
        store: What all share.
        process: The process.
        takeovers: Claims of all processes.
        notices: Where changes are told.
    """

    def __init__(
        self, store: MemoryTaskLogStore, process: Process, takeovers: Takeovers, notices: Notices
    ) -> None:
        super().__init__(store, process.name, takeovers)
        self._whole_process = process
        self._notices = notices

    async def claim(self, task_id: str, owner: str) -> Stored:
        """Begin the next attempt, and tell it."""
        stored = await super().claim(task_id, owner)
        self._notices.tell(CHANNEL, task_id)
        return stored

    async def append(self, write: Write) -> None:
        """Store a write, and tell it."""
        await super().append(write)
        self._notices.tell(CHANNEL, write.task_id)

    def changes(self) -> AsyncGenerator[str, None]:
        """The ids of tasks that any process writes."""
        return self._notices.listen(self._whole_process, CHANNEL)
