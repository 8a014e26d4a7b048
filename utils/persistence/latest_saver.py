"""LangGraph's checkpoints in a SQLite file, of which only the latest stay; their messages are stored once, beside them."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from langgraph.checkpoint.base import WRITES_IDX_MAP, get_checkpoint_metadata
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from utils.errors import StorageError, StorageFull
from utils.observability import catalogue
from utils.observability.metrics import count
from utils.persistence import message_rows
from utils.persistence.checkpoint_clock import go_on_after
from utils.persistence.database_failures import is_full
from utils.persistence.encrypted.serializer import serializer, serializer_of
from utils.persistence.stored_messages import has_messages

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
    from utils.persistence.stored_messages import StoredMessages

KEPT = 1
"""Checkpoints kept of each conversation. Each names all its messages, and a turn goes on from the latest; it is stored in the
transaction that deletes the one before."""

_TABLES = ("checkpoints", "writes", "conversation_messages")

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
        self._codec = codec
        self._reading: SqliteSaver | None = None

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,  # noqa: ARG002 - LangGraph passes it; a row holds all channels
    ) -> RunnableConfig:
        """Store a checkpoint and the messages that are not stored yet, and delete what is no longer needed."""
        where = config["configurable"]
        thread_id, namespace = str(where["thread_id"]), where["checkpoint_ns"]
        described = json.dumps(get_checkpoint_metadata(config, metadata), ensure_ascii=False)
        key = (thread_id, namespace, checkpoint["id"], where.get("checkpoint_id"))

        def put(db: sqlite3.Connection) -> None:
            messages = message_rows.messages_of(db, thread_id, self._codec)
            stored = self._serde(thread_id, messages).dumps_typed(checkpoint)
            _put(db, (*key, *stored, described.encode("utf-8", "ignore")))
            message_rows.store(db, thread_id, messages, self._codec)
            message_rows.sweep(db, thread_id, messages)

        with _storage_errors():
            await self._database.write(put)
        placed = {
            "thread_id": where["thread_id"],
            "checkpoint_ns": namespace,
            "checkpoint_id": checkpoint["id"],
        }
        return {"configurable": placed}

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Store the writes of a step before its checkpoint, and their messages."""
        key = (*_key(config), task_id, task_path)
        any_messages = has_messages([value for _, value in writes])
        again = "REPLACE" if all(channel in WRITES_IDX_MAP for channel, _ in writes) else "IGNORE"

        def put(db: sqlite3.Connection) -> None:
            messages = message_rows.messages_of(db, key[0], self._codec) if any_messages else None
            serde = self._serde(key[0], messages)
            rows = [
                (*key, WRITES_IDX_MAP.get(channel, number), channel, *serde.dumps_typed(value))
                for number, (channel, value) in enumerate(writes)
            ]
            db.executemany(_PUT_WRITES.format(again=again), rows)
            if messages is not None:
                message_rows.store(db, key[0], messages, self._codec)

        with _storage_errors():
            await self._database.write(put)

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """A checkpoint; the latest when none is named."""

        def get(db: sqlite3.Connection) -> CheckpointTuple | None:
            with self._reader(db, str(config["configurable"]["thread_id"])) as reader:
                return reader.get_tuple(config)

        with _storage_errors():
            found = await self._database.read(get)
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
        """The checkpoints of a conversation, latest first; of all of them where none is named."""

        def listed(db: sqlite3.Connection) -> list[CheckpointTuple]:
            found: list[CheckpointTuple] = []
            for each in [config] if config is not None else _all(db):
                with self._reader(db, str(each["configurable"]["thread_id"])) as reader:
                    found += reader.list(each, filter=filter, before=before, limit=limit)
            return sorted(found, key=lambda one: one.checkpoint["id"], reverse=True)

        with _storage_errors():
            found = await self._database.read(listed)
        for one in found[:limit]:
            yield one

    async def adelete_thread(self, thread_id: str) -> None:
        """Delete a conversation."""

        def delete(db: sqlite3.Connection) -> None:
            for table in _TABLES:
                db.execute(f"DELETE FROM {table} WHERE thread_id = ?", (thread_id,))  # noqa: S608 - our own names

        with _storage_errors():
            await self._database.write(delete)

    def _serde(self, thread_id: str, messages: StoredMessages | None) -> Any:
        return serializer_of(self.serde, thread_id, messages)

    @contextmanager
    def _reader(self, db: sqlite3.Connection, thread_id: str) -> Iterator[SqliteSaver]:
        """LangGraph's synchronous saver over the connection that reads, which one thread uses.

        All is read in one transaction, so that the messages are those of the checkpoint.
        """
        if self._reading is None or self._reading.conn is not db:
            self._reading = SqliteSaver(db)
            self._reading.is_setup = True
        db.execute("BEGIN")
        try:
            messages = message_rows.messages_of(db, thread_id, self._codec)
            self._reading.serde = self._serde(thread_id, messages)
            yield self._reading
        finally:
            if db.in_transaction:  # some failures of SQLite end it
                db.execute("ROLLBACK")


def _key(config: RunnableConfig) -> tuple[str, str, str]:
    where = config["configurable"]
    return str(where["thread_id"]), str(where["checkpoint_ns"]), str(where["checkpoint_id"])


def _all(db: sqlite3.Connection) -> list[RunnableConfig]:
    threads = db.execute("SELECT DISTINCT thread_id FROM checkpoints").fetchall()
    return [{"configurable": {"thread_id": thread_id}} for (thread_id,) in threads]


def _put(connection: sqlite3.Connection, row: tuple[Any, ...]) -> None:
    connection.execute(_PUT, row)
    key = row[:2]
    connection.execute(_OLDER_WRITES, (*key, *key, KEPT))
    connection.execute(_OLDER_CHECKPOINTS, (*key, *key, KEPT))


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
