"""Task storage in memory, for tests and temporary servers."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from utils.persistence.task_chunks import Chunk
from utils.persistence.task_shelf import Query, Row, Shelf, check_version


@dataclass
class _Entry:
    row: Row
    artifacts: dict[int, list[Chunk]] = field(default_factory=dict)


class MemoryShelf(Shelf):
    """A dictionary; lost with the process."""

    def __init__(self) -> None:
        self._entries: dict[str, _Entry] = {}
        self._owners: dict[str, dict[str, _Entry]] = {}

    async def open(self) -> int:
        """Nothing to open."""
        return 0

    async def close(self) -> None:
        """Nothing to close."""

    async def row(self, owner: str, task_id: str) -> Row | None:
        """The owner's task, or `None`."""
        entry = self._owners.get(owner, {}).get(task_id)
        return entry.row if entry else None

    async def put(self, row: Row, expected: int | None, replaced: Sequence[Chunk]) -> int:
        """Write a row."""
        entry = self._entries.get(row.id)
        check_version(entry.row if entry else None, row.owner, expected)
        version = entry.row.version + 1 if entry else 1
        if entry is None:
            entry = self._entries[row.id] = _Entry(row)
            self._owners.setdefault(row.owner, {})[row.id] = entry
        entry.row = replace(row, version=version)
        for chunk in replaced:
            entry.artifacts[chunk.position] = [chunk]
        return version

    async def append(self, task_id: str, chunk: Chunk) -> None:
        """Add a chunk."""
        self._entries[task_id].artifacts.setdefault(chunk.position, []).append(chunk)

    async def chunks(self, task_ids: Sequence[str]) -> dict[str, list[Chunk]]:
        """Chunks of each task."""
        found: dict[str, list[Chunk]] = {}
        for task_id in task_ids:
            entry = self._entries.get(task_id)
            artifacts = sorted(entry.artifacts.items()) if entry else []
            found[task_id] = [chunk for _, chunks in artifacts for chunk in chunks]
        return found

    async def page(self, query: Query) -> tuple[list[Row], int]:
        """Rows of one page."""
        rows = [entry.row for entry in self._owners.get(query.owner, {}).values()]
        matching = [row for row in rows if _matches(row, query)]
        rest = [row for row in matching if query.after is None or (row.updated, row.id) < query.after]
        return heapq.nlargest(query.limit, rest, key=lambda row: (row.updated, row.id)), len(matching)

    async def delete(self, owner: str, task_id: str) -> None:
        """Delete a task."""
        if self._owners.get(owner, {}).pop(task_id, None) is not None:
            del self._entries[task_id]

    async def writable(self) -> bool:
        """Always."""
        return True

    async def unfinished(self, states: Sequence[int]) -> list[Row]:
        """Rows in one of `states`."""
        return [entry.row for entry in self._entries.values() if entry.row.state in states]


def _matches(row: Row, query: Query) -> bool:
    return (
        (not query.context_id or row.context_id == query.context_id)
        and (not query.state or row.state == query.state)
        and (query.updated_from is None or row.updated >= query.updated_from)
    )
