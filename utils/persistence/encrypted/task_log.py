"""Task logs whose bodies are encrypted, over any store of them. Ids, owners, states and times stay as they are."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from utils.encryption.errors import StorageKeyMissing, StorageUnreadable
from utils.persistence.encrypted import places
from utils.persistence.encrypted.wrapped import Wrapped
from utils.persistence.task_log_store import (
    LEFT_OUT,
    LOST,
    ContextRow,
    IdleContext,
    Query,
    Record,
    RecordKind,
    Row,
    Stored,
    StoredTimes,
    TaskLogStore,
    Write,
)

if TYPE_CHECKING:
    from utils.encryption.codec import Codec
    from utils.persistence.encrypted.shared_keys import SharedKeys


Opened = TypeVar("Opened")


class EncryptedTaskLog(Wrapped[TaskLogStore], TaskLogStore):
    """Encrypts heads and events before `inner` stores them.

    A replica whose keys do not read what the others store is told so, wherever it reads what one of them stored: another
    replica reads it.

    Args:
        inner: Stores them.
        codec: Encrypts.
        shared: Tells whether the keys are those of the other replicas; `None` where there are none.
    """

    def __init__(self, inner: TaskLogStore, codec: Codec, shared: SharedKeys | None = None) -> None:
        super().__init__(inner, codec)
        self._shared = shared

    async def not_written(self) -> str:
        """Why a write would fail now, or may not be made with these keys."""
        problem = await self._inner.not_written()
        return problem or (self._shared.problem if self._shared is not None else "")

    def now(self) -> float:
        """The time that what is stored is stamped with."""
        return self._inner.now()

    async def claim(self, task_id: str, owner: str) -> Stored:
        """Begin the next attempt."""
        stored = await self._inner.claim(task_id, owner)
        return await self._opened(partial(self._stored, task_id, stored))

    async def append(self, write: Write) -> None:
        """Store a write."""
        records = tuple(self._closed(write.task_id, record) for record in write.records)
        row = write.row and self._closed_row(write.row)
        await self._inner.append(replace(write, records=records, row=row))

    async def look(self, task_id: str, owner: str) -> Stored | None:
        """The stored task."""
        stored = await self._inner.look(task_id, owner)
        return None if stored is None else await self._opened(partial(self._stored, task_id, stored))

    async def events(
        self, task_id: str, *, after: int, limit: int, kinds: frozenset[RecordKind] | None = None
    ) -> list[Record]:
        """The next events."""
        found = await self._inner.events(task_id, after=after, limit=limit, kinds=kinds)
        return await self._opened(lambda: [self._record(task_id, record) for record in found])

    async def page(self, query: Query) -> tuple[list[Row], int]:
        """Rows of one page; one that no key reads has the body `LOST`."""
        rows, total = await self._inner.page(query)
        return await self._listed(rows), total

    async def unfinished(self, states: Sequence[int]) -> list[Row]:
        """Rows in one of `states`; one that no key reads has the body `LOST`."""
        return await self._listed(await self._inner.unfinished(states))

    async def idle(self, before: int, limit: int, *, ended: bool = False) -> list[IdleContext]:
        """Conversations without recent turns."""
        return await self._inner.idle(before, limit, ended=ended)

    async def times(self) -> StoredTimes:
        """When the newest task changed, and the time by the store's own clock."""
        return await self._inner.times()

    async def count_contexts(self) -> int:
        """All conversations."""
        return await self._inner.count_contexts()

    async def contexts(self, owner: str, after: tuple[int, str], limit: int) -> list[ContextRow]:
        """Conversations of an owner."""
        return await self._inner.contexts(owner, after, limit)

    async def delete(self, task_id: str, owner: str) -> None:
        """Delete a task."""
        await self._inner.delete(task_id, owner)

    def changes(self) -> AsyncGenerator[str, None] | None:
        """The ids of tasks as processes write them."""
        return self._inner.changes()

    def _closed(self, task_id: str, record: Record) -> Record:
        place = places.event(task_id, record.sequence)
        return replace(record, body=self._codec.encrypt(record.body, place))

    def _closed_row(self, row: Row) -> Row:
        return replace(row, body=self._codec.encrypt(row.body, places.head(row.id, row.owner)))

    def _stored(self, task_id: str, stored: Stored) -> Stored:
        row = stored.row and self._row(stored.row)
        return replace(stored, row=row, changes=tuple(self._record(task_id, each) for each in stored.changes))

    def _record(self, task_id: str, record: Record) -> Record:
        place = places.event(task_id, record.sequence)
        return replace(record, body=self._codec.decrypt(record.body, place))

    def _row(self, row: Row) -> Row:
        return replace(row, body=self._codec.decrypt(row.body, places.head(row.id, row.owner)))

    async def _opened(self, opening: Callable[[], Opened]) -> Opened:
        """What `opening` decrypts.

        Raises:
            KeysOutdated: No key fits, and another replica has one that does.
            StorageUnreadable: It cannot be decrypted.
        """
        try:
            return opening()
        except StorageKeyMissing:
            await self._check()
            raise

    async def _listed(self, rows: Sequence[Row]) -> list[Row]:
        found = [self._row_or_lost(row) for row in rows]
        if any(row.body == LOST for row in found):
            await self._check()
        return found

    async def _check(self) -> None:
        if self._shared is not None:
            await self._shared.check()

    def _row_or_lost(self, row: Row) -> Row:
        if row.body == LEFT_OUT:
            return row
        try:
            return self._row(row)
        except StorageUnreadable:
            return replace(row, body=LOST)
