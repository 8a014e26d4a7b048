"""A store in memory whose writes can be held up, fail, or succeed without an answer."""

import asyncio

from utils.errors import StorageError
from utils.persistence.task_log_memory import MemoryTaskLogStore
from utils.persistence.task_log_store import Stored, Write


class FaultyStore(MemoryTaskLogStore):
    """Attributes:
    open_gate: Writes wait until it is set.
    failing: Tasks whose writes fail; `*` for all.
    unanswered: Writes are stored, and their answer is an error.
    blind: Looks fail too.
    """

    def __init__(self) -> None:
        super().__init__()
        self.open_gate = asyncio.Event()
        self.open_gate.set()
        self.arrived = asyncio.Event()
        self.failing: set[str] = set()
        self.unanswered = False
        self.blind = False
        self.writes: list[Write] = []

    async def append(self, write: Write) -> None:
        self.arrived.set()
        await self.open_gate.wait()
        if self.failing & {"*", write.task_id}:
            raise StorageError("The storage failed.")
        await super().append(write)
        self.writes.append(write)
        if self.unanswered:
            raise StorageError("The answer was lost.")

    async def look(self, task_id: str, owner: str) -> Stored | None:
        if self.blind:
            raise StorageError("The storage failed.")
        return await super().look(task_id, owner)
