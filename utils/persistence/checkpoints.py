"""Stores conversations: LangGraph's checkpoints in the agent's SQLite file.

Only the latest checkpoint of a conversation is kept: a turn resumes from it, and nothing reads the others. Messages are stored
once, beside the checkpoints that name them (`latest_saver`, `stored_messages`;
docs/decisions/0008-only-the-latest-checkpoints.md).
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, closing
from typing import TYPE_CHECKING

from utils.encryption.codec import PLAIN, Codec
from utils.persistence.database import Database, check_writable, connect
from utils.persistence.database_failures import unopened
from utils.persistence.sqlite_file import MemoryFile, SqliteFile

if TYPE_CHECKING:
    from langgraph.checkpoint.base import BaseCheckpointSaver
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver


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

    from utils.persistence.latest_saver import LatestSaver
    from utils.persistence.message_rows import SCHEMA

    await asyncio.to_thread(_check_file, path)
    where, is_uri = (path.uri, True) if isinstance(path, MemoryFile) else (str(path), False)
    connection = await stack.enter_async_context(aiosqlite.connect(where, uri=is_uri))
    database = Database(path, SCHEMA)
    saver = LatestSaver(connection, database, codec)
    await saver.setup()  # creates the tables
    # WAL with NORMAL: checkpoints survive a killed process; a power failure may lose the last ones.
    await connection.execute("PRAGMA synchronous=NORMAL")
    stack.push_async_callback(database.close)
    await database.open()
    return saver


def _check_file(path: SqliteFile) -> None:
    with closing(connect(path)) as connection:
        check_writable(connection)
