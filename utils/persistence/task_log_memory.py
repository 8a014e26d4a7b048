"""Task logs in memory, for tests and temporary servers."""

from __future__ import annotations

import heapq
import itertools
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from utils.persistence.task_log_store import (
    BATCH_BYTES,
    CHANGES,
    LEFT_OUT,
    ContextRow,
    IdleContext,
    Query,
    Record,
    RecordKind,
    Refusal,
    Row,
    Stored,
    StoredTimes,
    TaskLogStore,
    Write,
    WriteRefused,
    check_write,
)
from utils.persistence.task_states import TERMINAL


@dataclass
class _Log:
    owner: str
    attempt: int = 0
    row: Row | None = None
    records: list[Record] = field(default_factory=list)

    def bare(self) -> Stored:
        last = self.records[-1].sequence if self.records else 0
        return Stored(self.owner, self.attempt, last, self.row)

    def stored(self) -> Stored:
        since = self.row.sequence if self.row else 0
        records = self.records[self.index(since) :]
        return replace(self.bare(), changes=tuple(record for record in records if record.kind in CHANGES))

    def index(self, after: int) -> int:
        return bisect_right(self.records, after, key=lambda record: record.sequence)


class MemoryTaskLogStore(TaskLogStore):
    """A dictionary; lost with the process."""

    def __init__(self) -> None:
        self._logs: dict[str, _Log] = {}
        self._attempts = itertools.count(1)

    async def open(self) -> None:
        """Nothing to open."""

    async def close(self) -> None:
        """Nothing to close."""

    async def not_written(self) -> str:
        """Nothing: it can always be written."""
        return ""

    async def claim(self, task_id: str, owner: str) -> Stored:
        """Begin the next attempt."""
        log = self._logs.setdefault(task_id, _Log(owner))
        if log.owner != owner:
            raise WriteRefused(Refusal.OWNER)
        if log.row is None:
            log.records.clear()
        log.attempt = next(self._attempts)
        return log.stored()

    async def append(self, write: Write) -> None:
        """Store a write."""
        log = self._logs.get(write.task_id)
        check_write(log.bare() if log else None, write)
        assert log is not None
        log.records.extend(write.records)
        log.row = write.row or log.row

    async def look(self, task_id: str, owner: str) -> Stored | None:
        """The stored task."""
        log = self._logs.get(task_id)
        return log.stored() if log is not None and log.owner == owner else None

    async def events(
        self, task_id: str, *, after: int, limit: int, kinds: frozenset[RecordKind] | None = None
    ) -> list[Record]:
        """The next events."""
        log = self._logs.get(task_id)
        found: list[Record] = []
        size = 0
        for record in itertools.islice(log.records, log.index(after), None) if log else ():
            if len(found) == limit or size >= BATCH_BYTES:
                break
            if kinds is None or record.kind in kinds:
                found.append(record)
                size += len(record.body)
        return found

    async def page(self, query: Query) -> tuple[list[Row], int]:
        """Rows of one page."""
        rows = [log.row for log in self._logs.values() if log.row is not None and log.owner == query.owner]
        matching = [row for row in rows if _matches(row, query)]
        rest = [row for row in matching if query.after is None or (row.updated, row.id) < query.after]
        found = heapq.nlargest(query.limit, rest, key=lambda row: (row.updated, row.id))
        before = itertools.accumulate((len(row.body) for row in found), initial=0)
        shown = [
            row if size < BATCH_BYTES else replace(row, body=LEFT_OUT)
            for row, size in zip(found, before, strict=False)
        ]
        return shown, len(matching)

    async def unfinished(self, states: Sequence[int]) -> list[Row]:
        """Rows in one of `states`."""
        return [log.row for log in self._logs.values() if log.row is not None and log.row.state in states]

    async def idle(self, before: int, limit: int, *, ended: bool = False) -> list[IdleContext]:
        """Conversations without recent turns."""
        contexts: dict[tuple[str, str], list[Row]] = {}
        for log in self._logs.values():
            if log.row is not None:
                contexts.setdefault((log.row.owner, log.row.context_id), []).append(log.row)
        if ended:
            contexts = {
                key: rows for key, rows in contexts.items() if all(row.state in TERMINAL for row in rows)
            }
        newest = {key: max(row.updated for row in rows) for key, rows in contexts.items()}
        idle = heapq.nsmallest(
            limit, (key for key in contexts if newest[key] < before), key=newest.__getitem__
        )
        return [
            IdleContext(*key, tuple(sorted(row.id for row in contexts[key])), newest[key]) for key in idle
        ]

    async def times(self) -> StoredTimes:
        """When the newest task changed."""
        return StoredTimes(
            max((log.row.updated for log in self._logs.values() if log.row is not None), default=0)
        )

    async def count_contexts(self) -> int:
        """All conversations."""
        rows = (log.row for log in self._logs.values() if log.row is not None)
        return len({(row.owner, row.context_id) for row in rows})

    async def contexts(self, owner: str, after: tuple[int, str], limit: int) -> list[ContextRow]:
        """Conversations of an owner."""
        found: dict[str, list[int]] = {}
        for log in self._logs.values():
            if log.row is not None and log.row.owner == owner:
                found.setdefault(log.row.context_id, []).append(log.row.updated)
        newest = sorted(((max(times), name) for name, times in found.items()), reverse=True)
        past = [each for each in newest if each < after]
        return [ContextRow(name, updated, len(found[name])) for updated, name in past[:limit]]

    async def delete(self, task_id: str, owner: str) -> None:
        """Delete a task."""
        log = self._logs.get(task_id)
        if log is not None and log.owner == owner:
            del self._logs[task_id]


def _matches(row: Row, query: Query) -> bool:
    return (
        (not query.context_id or row.context_id == query.context_id)
        and (not query.state or row.state == query.state)
        and (query.updated_from is None or row.updated >= query.updated_from)
    )
