"""Which ends of tasks a process could not store because another process had claimed the task meanwhile."""

from __future__ import annotations

from dataclasses import dataclass, field

from utils.persistence.task_log_memory import MemoryTaskLogStore
from utils.persistence.task_log_store import Refusal, Stored, Write, WriteRefused


@dataclass(slots=True)
class Takeovers:
    """Claims of all processes of a schedule.

    Attributes:
        found: Processes and tasks: each process had told of the end of its task, and another one claimed it before that
            end was stored.
        claimed: By task, the process that claimed it last.
    """

    found: set[tuple[str, str]]
    claimed: dict[str, str] = field(default_factory=dict)


def watched(store: MemoryTaskLogStore, process: str, takeovers: Takeovers) -> MemoryTaskLogStore:
    """The same store as one process uses it."""
    return WatchedStore(store, process, takeovers)


class WatchedStore(MemoryTaskLogStore):
    """The store as one process uses it, which notes what it claims and what it could not store."""

    def __init__(self, store: MemoryTaskLogStore, process: str, takeovers: Takeovers) -> None:
        self.__dict__ = dict(store.__dict__)  # its logs and its numbers of attempts are shared
        self._process = process
        self._takeovers = takeovers

    async def claim(self, task_id: str, owner: str) -> Stored:
        stored = await super().claim(task_id, owner)
        self._takeovers.claimed[task_id] = self._process
        return stored

    async def append(self, write: Write) -> None:
        try:
            await super().append(write)
        except WriteRefused as refused:
            by_another = self._takeovers.claimed.get(write.task_id) != self._process
            if write.after is None and refused.refusal is Refusal.ATTEMPT and by_another:
                self._takeovers.found.add((self._process, write.task_id))
            raise
