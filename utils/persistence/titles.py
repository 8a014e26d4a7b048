"""Titles that people gave to their conversations."""

from __future__ import annotations

import sqlite3
from typing import Protocol

from utils.persistence.database import Database
from utils.persistence.sqlite_file import SqliteFile

_SCHEMA = """
CREATE TABLE IF NOT EXISTS titles (
    owner TEXT NOT NULL,
    context_id TEXT NOT NULL,
    title TEXT NOT NULL,
    PRIMARY KEY (owner, context_id)
) WITHOUT ROWID
"""
_GET = "SELECT title FROM titles WHERE owner = ? AND context_id = ?"
_PUT = "INSERT OR REPLACE INTO titles VALUES (?, ?, ?)"
_DELETE = "DELETE FROM titles WHERE owner = ? AND context_id = ?"


class Titles(Protocol):
    """The titles of conversations, by owner. Every method may raise `StorageError`."""

    async def open(self) -> None:
        """Open the store. Safe to call twice."""

    async def close(self) -> None:
        """Close it. Safe to call twice."""

    async def get(self, owner: str, context_id: str) -> str:
        """The title of a conversation; empty for one that has none."""

    async def put(self, owner: str, context_id: str, title: str) -> None:
        """Give a conversation a title; an empty one takes it away."""


class MemoryTitles:
    """Keeps the titles in memory."""

    def __init__(self) -> None:
        self._titles: dict[tuple[str, str], str] = {}

    async def open(self) -> None:
        """Do nothing: memory is always open."""

    async def close(self) -> None:
        """Keep the titles."""

    async def get(self, owner: str, context_id: str) -> str:
        """The title of a conversation."""
        return self._titles.get((owner, context_id), "")

    async def put(self, owner: str, context_id: str, title: str) -> None:
        """Give a conversation a title."""
        if title:
            self._titles[owner, context_id] = title
        else:
            self._titles.pop((owner, context_id), None)


class SqliteTitles:
    """The titles in a SQLite file."""

    def __init__(self, path: SqliteFile) -> None:
        self._database = Database(path, _SCHEMA)

    async def open(self) -> None:
        """Open the file, created when missing."""
        await self._database.open()

    async def close(self) -> None:
        """Close the file."""
        await self._database.close()

    async def get(self, owner: str, context_id: str) -> str:
        """The title of a conversation."""

        def read(connection: sqlite3.Connection) -> str:
            row = connection.execute(_GET, (owner, context_id)).fetchone()
            return str(row[0]) if row else ""

        return await self._database.read(read)

    async def put(self, owner: str, context_id: str, title: str) -> None:
        """Give a conversation a title."""

        def write(connection: sqlite3.Connection) -> None:
            if title:
                connection.execute(_PUT, (owner, context_id, title))
            else:
                connection.execute(_DELETE, (owner, context_id))

        await self._database.write(write)
