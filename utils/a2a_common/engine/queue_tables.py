"""`QueueTables`: where the queue of an agent's turns is stored, as far as Procrastinate has no operation of its own."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from procrastinate.connector import BaseAsyncConnector


@dataclass(frozen=True, slots=True)
class Counts:
    """The unfinished jobs of a queue, as one transaction sees them.

    Attributes:
        running: Jobs that a worker runs.
        waiting: Jobs that wait.
        conversations: Conversations with a job.
        busy: Whether the conversation in question is one of them.
        task_busy: Whether the task in question has a job.
        workers: Workers with a recent sign of life.
    """

    running: int
    waiting: int
    conversations: int
    busy: bool
    task_busy: bool
    workers: int


class QueueTransaction(Protocol):
    """A transaction on the tables: its locks end with it. Every method raises `StorageError` where the storage fails."""

    @property
    def connection(self) -> Any:
        """What the connector adds jobs with, so that they are part of the transaction."""

    async def lock(self, number: int, *, shared: bool = False) -> None:
        """Wait for a lock; a shared one is had by any number of transactions at a time."""

    async def try_lock(self, number: int) -> bool:
        """Take a lock where nobody has it, shared or alone."""

    async def counts(self, queue: str, task_id: str, conversation: str, alive: float) -> Counts:
        """The unfinished jobs of a queue. A worker counts whose last sign of life is no older than `alive` seconds."""


class QueueTables(Protocol):
    """The tables of one agent, as one process reaches them."""

    @property
    def schema(self) -> str:
        """Name of the agent's schema."""

    def connector(self) -> BaseAsyncConnector:
        """A connector of this process, which is not open yet."""

    def transaction(self) -> AbstractAsyncContextManager[QueueTransaction]:
        """A transaction, which is committed with the block, and rolled back where that raises.

        Raises:
            StorageError: The storage failed. Where the connection was lost at the commit, it may be stored all the same.
        """
