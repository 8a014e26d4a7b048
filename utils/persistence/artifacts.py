"""Stores texts that were evicted from model requests, by handle, in a SQLite file of the agent.

A text belongs to a scope, which is a conversation's thread. Handles are derived from the text
(`utils.messages.handles`), so conversations are isolated by the scope and not by secret handles.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Mapping
from typing import TypeVar

from utils.errors import StorageError, StorageFull
from utils.persistence.database import connect
from utils.persistence.database_failures import is_full
from utils.persistence.sqlite_file import SqliteFile

T = TypeVar("T")

_SCHEMA = """
CREATE TABLE IF NOT EXISTS artifacts (
    scope TEXT NOT NULL,
    handle TEXT NOT NULL,
    text TEXT NOT NULL,
    created REAL NOT NULL DEFAULT (unixepoch()),
    PRIMARY KEY (scope, handle)
) WITHOUT ROWID
"""
_PUT = "INSERT OR IGNORE INTO artifacts (scope, handle, text) VALUES (?, ?, ?)"
_GET = "SELECT text FROM artifacts WHERE scope = ? AND handle = ?"
_DELETE = "DELETE FROM artifacts WHERE scope = ?"


class SqliteArtifactStore:
    """Artifact store in one file. Each call runs in a thread, on its own connection."""

    def __init__(self, path: SqliteFile) -> None:
        self._path = path
        self._ready = False

    async def put(self, scope: str, artifacts: Mapping[str, str]) -> None:
        """Store texts by handle. Storing the same text again changes nothing.

        Raises:
            StorageError: The file cannot be written.
        """
        if not artifacts:
            return
        rows = [(scope, handle, _storable(text)) for handle, text in artifacts.items()]
        await self._run(lambda connection: connection.executemany(_PUT, rows))

    async def get(self, scope: str, handle: str) -> str | None:
        """The text, or `None` if this scope has no such handle.

        Raises:
            StorageError: The file cannot be read.
        """
        row = await self._run(lambda connection: connection.execute(_GET, (scope, handle)).fetchone())
        return None if row is None else str(row[0])

    async def delete_scope(self, scope: str) -> int:
        """Delete all texts of a conversation; return how many.

        Raises:
            StorageError: The file cannot be written.
        """
        return await self._run(lambda connection: connection.execute(_DELETE, (scope,)).rowcount)

    async def _run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        try:
            return await asyncio.to_thread(self._connected, work)
        except (sqlite3.Error, OSError) as error:
            if is_full(error):
                raise StorageFull from error
            raise StorageError("Stored tool outputs cannot be reached.") from error

    def _connected(self, work: Callable[[sqlite3.Connection], T]) -> T:
        connection = connect(self._path)
        try:
            if not self._ready:
                connection.execute(_SCHEMA)
                self._ready = True
            connection.execute("BEGIN")
            with connection:
                return work(connection)
        finally:
            connection.close()


def _storable(text: str) -> str:
    """The text without lone surrogates, which SQLite cannot store."""
    return text.encode("utf-8", "replace").decode("utf-8")
