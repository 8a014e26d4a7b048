"""Rewrites SQLite files without the pages that deleted rows leave: a deleted text stays in them otherwise."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

from utils.persistence.database import connect, failed


async def compact(path: Path) -> None:
    """Rewrite a file; nothing where there is none. Its writers wait meanwhile.

    Raises:
        StorageError: SQLite failed, or the file was written for all of the time that it is waited for.
    """
    if await asyncio.to_thread(path.exists):
        await asyncio.to_thread(_rewritten, path)


def _rewritten(path: Path) -> None:
    try:
        with closing(connect(path)) as connection:
            connection.execute("VACUUM")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    except sqlite3.Error as error:
        raise failed(path, error) from error
