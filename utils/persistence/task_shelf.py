"""Interface of the storage of a task store: rows and chunks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from utils.persistence.task_chunks import Chunk
from utils.persistence.task_states import TERMINAL


@dataclass(frozen=True, slots=True)
class Row:
    """A task without the parts of its artifacts.

    Attributes:
        id: Task id, unique over all owners.
        owner: Key of the scope that may see it.
        context_id: The conversation.
        state: Number of the task's state.
        updated: Status timestamp in nanoseconds since 1970.
        body: The task, serialised.
        version: Number of writes of the row, from 1.
    """

    id: str
    owner: str
    context_id: str
    state: int
    updated: int
    body: bytes
    version: int = 0


@dataclass(frozen=True, slots=True)
class Query:
    """A page of an owner's tasks, newest status first. Unset fields do not filter."""

    owner: str
    context_id: str = ""
    state: int = 0
    updated_from: int | None = None
    after: tuple[int, str] | None = None
    limit: int = 50


class Stale(Exception):
    """The row is newer than the one that a write was derived from."""


class Shelf(ABC):
    """Rows by task id, chunks by task."""

    @abstractmethod
    async def open(self) -> int:
        """Open the storage and return the highest sequence in use."""

    @abstractmethod
    async def close(self) -> None:
        """Finish queued writes and close."""

    @abstractmethod
    async def row(self, owner: str, task_id: str) -> Row | None:
        """The owner's task, or `None`."""

    @abstractmethod
    async def put(self, row: Row, expected: int | None, replaced: Sequence[Chunk]) -> int:
        """Write a row and the first chunks of artifacts, in one transaction.

        Args:
            row: What to write; its version is ignored.
            expected: The version that must be stored, 0 for none; `None` for any task that has not ended.
            replaced: First chunks of artifacts that start or start again.

        Returns:
            The new version.

        Raises:
            Stale: Another version is stored.
            StorageError: The row could not be written, or an earlier chunk of the task could not be written and the
                row's state does not mark an incomplete task.
        """

    @abstractmethod
    async def append(self, task_id: str, chunk: Chunk) -> None:
        """Append a chunk to its artifact; the write may be queued, in order."""

    @abstractmethod
    async def chunks(self, task_ids: Sequence[str]) -> dict[str, list[Chunk]]:
        """Chunks of each task, by position and then sequence."""

    @abstractmethod
    async def page(self, query: Query) -> tuple[list[Row], int]:
        """Up to `limit` rows, and how many match without paging."""

    @abstractmethod
    async def delete(self, owner: str, task_id: str) -> None:
        """Delete a task."""

    @abstractmethod
    async def writable(self) -> bool:
        """Whether a write would succeed now, as far as is known without a long wait."""

    @abstractmethod
    async def unfinished(self, states: Sequence[int]) -> list[Row]:
        """Rows of every owner in one of `states`."""


def check_version(stored: Row | None, owner: str, expected: int | None) -> None:
    """Check that a write derived from version `expected` may replace version `stored`.

    Raises:
        Stale: It may not.
    """
    if stored is not None and stored.owner != owner:
        raise Stale
    if expected is None:
        if stored is None or stored.state in TERMINAL:
            raise Stale
    elif (stored.version if stored else 0) != expected:
        raise Stale
