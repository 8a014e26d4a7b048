"""`QueueTables`: the operations on the tables of an agent's turns that Procrastinate does not offer."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from utils.a2a_common.engine.load import ConversationLoad

if TYPE_CHECKING:
    from procrastinate.connector import BaseAsyncConnector


@dataclass(frozen=True, slots=True)
class Counts:
    """The unfinished jobs of a queue, as one transaction sees them.

    Attributes:
        workers: Number of workers with a recent heartbeat.
        task_busy: Whether the task in question has a job.
        loads: One for each conversation with a job.
    """

    workers: int
    task_busy: bool
    loads: Sequence[ConversationLoad]


class QueueTransaction(Protocol):
    """A transaction on the tables, whose locks end with it. Every method raises `StorageError` if the storage fails."""

    @property
    def connection(self) -> Any:
        """The connector that adds jobs within this transaction."""

    async def lock(self, number: int, *, shared: bool = False) -> None:
        """Wait for a lock; any number of transactions can hold a shared one."""

    async def try_lock(self, number: int) -> bool:
        """Take the lock if it is free; return whether it was taken."""

    async def counts(self, queue: str, task_id: str, alive: float) -> Counts:
        """The unfinished jobs of a queue. A worker counts if its last heartbeat is no older than `alive` seconds."""


class QueueTables(Protocol):
    """The tables of one agent."""

    @property
    def schema(self) -> str:
        """Name of the agent's schema."""

    def connector(self) -> BaseAsyncConnector:
        """A new connector, not open yet."""

    def transaction(self) -> AbstractAsyncContextManager[QueueTransaction]:
        """A transaction: committed at the end of the block, rolled back if the block raises.

        Raises:
            StorageError: The storage failed. If the connection was lost during the commit, it may be stored all the same.
        """

    def held_if_free(self, number: int) -> AbstractAsyncContextManager[bool]:
        """Hold a lock within the block, however long that takes; `False` if another holder has it.

        Waits for commands that change conversations directly in the database.

        Raises:
            StorageError: The storage failed, or a command takes long.
        """
