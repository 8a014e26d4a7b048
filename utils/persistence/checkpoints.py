"""Stores conversations: LangGraph's checkpoints in the agent's SQLite file.

Each checkpoint contains the whole conversation, so storage for all of them would grow quadratically. Only the
latest few are kept: a turn resumes from the latest, and nothing reads the others
(docs/decisions/0008-only-the-latest-checkpoints.md).
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, closing, contextmanager
from typing import TYPE_CHECKING, Any

from utils.encryption.codec import PLAIN, Codec
from utils.errors import StorageError, StorageFull
from utils.observability import catalogue
from utils.observability.metrics import count
from utils.persistence.database import Database, check_writable, connect, is_full, unopened
from utils.persistence.sqlite_file import MemoryFile, SqliteFile

if TYPE_CHECKING:
    import aiosqlite
    from langchain_core.runnables import RunnableConfig
    from langgraph.checkpoint.base import (
        BaseCheckpointSaver,
        ChannelVersions,
        Checkpoint,
        CheckpointMetadata,
        CheckpointTuple,
    )
    from langgraph.checkpoint.sqlite import SqliteSaver
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

KEPT = 3
"""Checkpoints kept of each conversation."""

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


@asynccontextmanager
async def open_checkpointer(
    path: SqliteFile, codec: Codec = PLAIN
) -> AsyncIterator[BaseCheckpointSaver[str]]:
    """Open the checkpoints in a SQLite file, created when missing; closed on leaving the block. `codec` encrypts them.

    Raises:
        StorageError: The file cannot be opened or is not a database; the message names it.
    """
    async with AsyncExitStack() as stack:
        try:
            saver = await _opened(path, codec, stack)
        except sqlite3.Error as error:
            raise unopened(path, error) from error
        yield saver


async def _opened(path: SqliteFile, codec: Codec, stack: AsyncExitStack) -> AsyncSqliteSaver:
    import aiosqlite

    await asyncio.to_thread(_check_file, path)
    where, is_uri = (path.uri, True) if isinstance(path, MemoryFile) else (str(path), False)
    connection = await stack.enter_async_context(aiosqlite.connect(where, uri=is_uri))
    database = Database(path, "")
    saver = _saver(connection, database, codec)
    await saver.setup()  # creates the tables
    # WAL with NORMAL: checkpoints survive a killed process; a power failure may lose the last ones.
    await connection.execute("PRAGMA synchronous=NORMAL")
    stack.push_async_callback(database.close)
    await database.open()
    return saver


def _check_file(path: SqliteFile) -> None:
    with closing(connect(path)) as connection:
        check_writable(connection)


def _saver(connection: aiosqlite.Connection, database: Database, codec: Codec) -> AsyncSqliteSaver:
    from langgraph.checkpoint.base import WRITES_IDX_MAP, get_checkpoint_metadata
    from langgraph.checkpoint.sqlite import SqliteSaver
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

    from utils.persistence.encrypted.serializer import serializer

    class LatestSaver(AsyncSqliteSaver):
        """Keeps only the latest checkpoints of each conversation; each of its calls is one visit to a thread."""

        _reading: SqliteSaver | None = None

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
                *self.serde.dumps_typed(checkpoint),
                described.encode("utf-8", "ignore"),
            )
            with _storage_errors():
                await database.write(lambda db: _put(db, row))
            placed = {"thread_id": thread_id, "checkpoint_ns": namespace, "checkpoint_id": checkpoint["id"]}
            return {"configurable": placed}

        async def aput_writes(
            self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
        ) -> None:
            """Store the writes of a step before its checkpoint."""
            key = (*_key(config), task_id, task_path)
            rows = [
                (*key, WRITES_IDX_MAP.get(channel, number), channel, *self.serde.dumps_typed(value))
                for number, (channel, value) in enumerate(writes)
            ]
            again = "REPLACE" if all(channel in WRITES_IDX_MAP for channel, _ in writes) else "IGNORE"
            with _storage_errors():
                await database.write(lambda db: _put_writes(db, again, rows))

        async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
            """A checkpoint; the latest when none is named."""
            with _storage_errors():
                return await database.read(lambda db: self._reader(db).get_tuple(config))

        def _reader(self, connection: sqlite3.Connection) -> SqliteSaver:
            """LangGraph's synchronous saver over the connection that reads."""
            if self._reading is None or self._reading.conn is not connection:
                self._reading = SqliteSaver(connection, serde=self.serde)
                self._reading.is_setup = True
            return self._reading

    return LatestSaver(connection, serde=serializer(codec))


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
