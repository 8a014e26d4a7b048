"""Stores conversations: LangGraph's checkpoints in the agent's SQLite file.

Each checkpoint contains the whole conversation, so storage for all of them would grow quadratically. Only the
latest few are kept: a turn resumes from the latest, and nothing reads the others
(docs/decisions/0008-only-the-latest-checkpoints.md).
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from utils.errors import StorageError
from utils.observability import catalogue
from utils.observability.metrics import count
from utils.persistence.database import check_writable, connect, unopened

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
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

KEPT = 3
"""Checkpoints kept of each conversation."""

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
async def open_checkpointer(path: Path) -> AsyncIterator[BaseCheckpointSaver[str]]:
    """Open the checkpoints in a SQLite file, created when missing; closed on leaving the block.

    Raises:
        StorageError: The file cannot be opened or is not a database; the message names it.
    """
    async with AsyncExitStack() as stack:
        try:
            saver = await _opened(path, stack)
        except sqlite3.Error as error:
            raise unopened(path, error) from error
        yield saver


async def _opened(path: Path, stack: AsyncExitStack) -> AsyncSqliteSaver:
    import aiosqlite

    await asyncio.to_thread(_check_file, path)
    connection = await stack.enter_async_context(aiosqlite.connect(str(path)))
    saver = _saver(connection)
    await saver.setup()
    # WAL with NORMAL: checkpoints survive a killed process; a power failure may lose the last ones.
    await connection.execute("PRAGMA synchronous=NORMAL")
    return saver


def _check_file(path: Path) -> None:
    with closing(connect(path)) as connection:
        check_writable(connection)


def _saver(connection: aiosqlite.Connection) -> AsyncSqliteSaver:
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

    class LatestSaver(AsyncSqliteSaver):
        """Keeps only the latest checkpoints of each conversation."""

        async def aput(
            self,
            config: RunnableConfig,
            checkpoint: Checkpoint,
            metadata: CheckpointMetadata,
            new_versions: ChannelVersions,
        ) -> RunnableConfig:
            """Store a checkpoint, and delete those that are no longer needed."""
            with _storage_errors():
                placed = await super().aput(config, checkpoint, metadata, new_versions)
                where = placed["configurable"]
                key = (where["thread_id"], where["checkpoint_ns"])
                async with self.lock:
                    await self.conn.execute(_OLDER_WRITES, (*key, *key, KEPT))
                    await self.conn.execute(_OLDER_CHECKPOINTS, (*key, *key, KEPT))
                    await self.conn.commit()
            return placed

        async def aput_writes(
            self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
        ) -> None:
            """Store the writes of a step before its checkpoint."""
            with _storage_errors():
                await super().aput_writes(config, writes, task_id, task_path)

        async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
            """A checkpoint; the latest when none is named."""
            with _storage_errors():
                return await super().aget_tuple(config)

    return LatestSaver(connection)


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
        raise StorageError("The conversation could not be stored or read. Try again.") from error
