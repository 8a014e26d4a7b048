"""LangGraph's checkpoints in a SQLite file, of which only the latest stay."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from typing import TYPE_CHECKING, Any

from langgraph.checkpoint.base import WRITES_IDX_MAP, get_checkpoint_metadata
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from utils.errors import StorageError, StorageFull
from utils.observability import catalogue
from utils.observability.metrics import count
from utils.persistence.checkpoint_clock import go_on_after
from utils.persistence.database_failures import is_full
from utils.persistence.encrypted.serializer import serializer, serializer_of

if TYPE_CHECKING:
    import aiosqlite
    from langchain_core.runnables import RunnableConfig
    from langgraph.checkpoint.base import (
        ChannelVersions,
        Checkpoint,
        CheckpointMetadata,
        CheckpointTuple,
    )

    from utils.encryption.codec import Codec
    from utils.persistence.database import Database

KEPT = 1
"""Checkpoints kept of each conversation. Each holds the whole conversation, and a turn goes on from the latest; it is stored
in the transaction that deletes the one before."""

_PUT = (
    "INSERT OR REPLACE INTO checkpoints (thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, checkpoint,"
    " metadata) VALUES (?, ?, ?, ?, ?, ?, ?)"
)
_PUT_WRITES = (
    "INSERT OR {again} INTO writes (thread_id, checkpoint_ns, checkpoint_id, task_id, task_path, idx, channel, type,"
    " value) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_OLDER = """
DELETE FROM {table} WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id < (
    SELECT min(checkpoint_id) FROM (
        SELECT checkpoint_id FROM checkpoints WHERE thread_id = ? AND checkpoint_ns = ?
        ORDER BY checkpoint_id DESC LIMIT ?
    )
)
"""
_OLDER_WRITES = _OLDER.format(table="writes")
_OLDER_CHECKPOINTS = _OLDER.format(table="checkpoints")


class LatestSaver(AsyncSqliteSaver):
    """Keeps only the latest checkpoints of each conversation; each of its calls is one visit to a thread.

    Args:
        connection: LangGraph's own, which creates the tables.
        database: The same file.
        codec: Encrypts.
    """

    def __init__(self, connection: aiosqlite.Connection, database: Database, codec: Codec) -> None:
        super().__init__(connection, serde=serializer(codec))
        self._database = database
        self._reading: SqliteSaver | None = None

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,  # noqa: ARG002 - LangGraph passes it; a row holds all channels
    ) -> RunnableConfig:
        """Store a checkpoint, and delete those that are no longer needed."""
        where = config["configurable"]
        thread_id, namespace = where["thread_id"], where["checkpoint_ns"]
        described = json.dumps(get_checkpoint_metadata(config, metadata), ensure_ascii=False)
        row = (
            *(str(thread_id), namespace, checkpoint["id"], where.get("checkpoint_id")),
            *self._serde(config).dumps_typed(checkpoint),
            described.encode("utf-8", "ignore"),
        )
        with _storage_errors():
            await self._database.write(lambda db: _put(db, row))
        placed = {"thread_id": thread_id, "checkpoint_ns": namespace, "checkpoint_id": checkpoint["id"]}
        return {"configurable": placed}

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Store the writes of a step before its checkpoint."""
        key = (*_key(config), task_id, task_path)
        serde = self._serde(config)
        rows = [
            (*key, WRITES_IDX_MAP.get(channel, number), channel, *serde.dumps_typed(value))
            for number, (channel, value) in enumerate(writes)
        ]
        again = "REPLACE" if all(channel in WRITES_IDX_MAP for channel, _ in writes) else "IGNORE"
        with _storage_errors():
            await self._database.write(lambda db: _put_writes(db, again, rows))

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """A checkpoint; the latest when none is named."""
        with _storage_errors():
            found = await self._database.read(lambda db: self._reader(db, config).get_tuple(config))
        if found is not None:
            go_on_after(found.checkpoint["id"])
        return found

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,  # noqa: A002 - LangGraph's name
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        """The checkpoints of a conversation."""
        one = copy(self)
        one.serde = self._serde(config) if config is not None else self.serde
        listed = super(LatestSaver, one).alist(config, filter=filter, before=before, limit=limit)
        async for found in listed:
            yield found

    def _serde(self, config: RunnableConfig) -> Any:
        return serializer_of(self.serde, str(config["configurable"]["thread_id"]))

    def _reader(self, connection: sqlite3.Connection, config: RunnableConfig) -> SqliteSaver:
        """LangGraph's synchronous saver over the connection that reads, which one thread uses."""
        if self._reading is None or self._reading.conn is not connection:
            self._reading = SqliteSaver(connection)
            self._reading.is_setup = True
        self._reading.serde = self._serde(config)
        return self._reading


def _key(config: RunnableConfig) -> tuple[str, str, str]:
    where = config["configurable"]
    return str(where["thread_id"]), str(where["checkpoint_ns"]), str(where["checkpoint_id"])


def _put(connection: sqlite3.Connection, row: tuple[Any, ...]) -> None:
    connection.execute(_PUT, row)
    key = row[:2]
    connection.execute(_OLDER_WRITES, (*key, *key, KEPT))
    connection.execute(_OLDER_CHECKPOINTS, (*key, *key, KEPT))


def _put_writes(connection: sqlite3.Connection, again: str, rows: Sequence[tuple[Any, ...]]) -> None:
    connection.executemany(_PUT_WRITES.format(again=again), rows)


@contextmanager
def _storage_errors() -> Iterator[None]:
    """Convert SQLite's errors to `StorageError`, and count them.

    Raises:
        StorageError: SQLite failed.
    """
    try:
        yield
    except sqlite3.Error as error:
        count(catalogue.STORAGE_ERRORS, file="checkpoints")
        if is_full(error):
            raise StorageFull from error
        raise StorageError("The conversation could not be stored or read. Try again.") from error
