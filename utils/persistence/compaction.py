"""Rewrites SQLite files without the pages that deleted rows leave: a deleted text stays in them otherwise."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

from utils.persistence.database import connect
from utils.persistence.database_failures import failed

LARGEST = 256 * 2**20
"""Bytes of a file that is rewritten, which takes about a second for as many; a larger one would hold up its writers."""


async def compact(path: Path, *, largest: int = LARGEST) -> None:
    """Rewrite a file and empty its write-ahead log, if the file exists. Its writers wait until this is done.

    A file larger than `largest` bytes is not rewritten: what is deleted is overwritten in it all the same
    (`secure_delete`), and its space is used again.

    Raises:
        StorageError: SQLite failed, or the file was written for all of the time that it is waited for.
    """
    if await asyncio.to_thread(path.exists):
        await asyncio.to_thread(_rewritten, path, largest)


def _rewritten(path: Path, largest: int) -> None:
    try:
        with closing(connect(path)) as connection:
            if path.stat().st_size <= largest:
                connection.execute("VACUUM")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    except sqlite3.Error as error:
        raise failed(path, error) from error
