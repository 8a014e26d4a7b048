"""Memories about users, by owner, with the conversations that they come from."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from utils.persistence.database import Database
from utils.persistence.sqlite_file import SqliteFile

_SCHEMA = """
CREATE TABLE IF NOT EXISTS memories (
    owner TEXT NOT NULL,
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    body BLOB NOT NULL,
    created REAL NOT NULL,
    updated REAL NOT NULL,
    PRIMARY KEY (owner, kind, id)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS memory_sources (
    thread_id TEXT NOT NULL,
    owner TEXT NOT NULL,
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    PRIMARY KEY (thread_id, owner, kind, id)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS memory_sources_by_memory ON memory_sources (owner, kind, id)
"""

_PUT = """
INSERT INTO memories (owner, kind, id, body, created, updated) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (owner, kind, id) DO UPDATE SET body = excluded.body, updated = excluded.updated
"""
_PUT_SOURCE = "INSERT OR IGNORE INTO memory_sources (thread_id, owner, kind, id) VALUES (?, ?, ?, ?)"
_GET = "SELECT kind, id, body, created, updated FROM memories WHERE owner = ? AND kind = ? AND id = ?"
_ALL = "SELECT kind, id, body, created, updated FROM memories WHERE owner = ? ORDER BY created, kind, id"
_OWNERS = "SELECT DISTINCT owner, kind FROM memories ORDER BY owner, kind"
_REMOVE = (
    "DELETE FROM memory_sources WHERE owner = ? AND kind = ? AND id = ?",
    "DELETE FROM memories WHERE owner = ? AND kind = ? AND id = ?",
)
_JOIN = """
INSERT OR IGNORE INTO memory_sources (thread_id, owner, kind, id)
SELECT thread_id, owner, kind, ? FROM memory_sources WHERE owner = ? AND kind = ? AND id = ?
"""
_ITS = "s.owner = memories.owner AND s.kind = memories.kind AND s.id = memories.id"
_REMOVE_LEARNT = f"""
DELETE FROM memories WHERE EXISTS (SELECT 1 FROM memory_sources AS s WHERE s.thread_id = ? AND {_ITS})
AND NOT EXISTS (SELECT 1 FROM memory_sources AS s WHERE s.thread_id <> ? AND {_ITS})
"""  # noqa: S608 - our own names
_REMOVE_SOURCE = "DELETE FROM memory_sources WHERE thread_id = ?"


@dataclass(frozen=True, slots=True)
class MemoryRow:
    """One memory as it is stored.

    Attributes:
        owner: Whose it is.
        kind: What it is.
        id: Tells it from the owner's others of its kind.
        body: What it says.
        created: When it was learnt first, in seconds since 1970.
        updated: When it was learnt last.
    """

    owner: str
    kind: str
    id: str
    body: bytes
    created: float
    updated: float


class Memories(Protocol):
    """The memories of all owners. Every method may raise `StorageError`."""

    async def open(self) -> None:
        """Open the store. Safe to call twice."""

    async def close(self) -> None:
        """Close it. Safe to call twice."""

    async def put(self, row: MemoryRow, sources: Sequence[str]) -> None:
        """Insert or replace a memory that was learnt from these threads too; `created` stays that of the first time."""

    async def get(self, owner: str, kind: str, memory_id: str) -> MemoryRow | None:
        """One memory."""

    async def all_of(self, owner: str) -> list[MemoryRow]:
        """All memories of an owner, oldest first."""

    async def owners(self) -> list[tuple[str, str]]:
        """Every owner with each kind of memory that it has."""

    async def remove(self, owner: str, kind: str, memory_id: str) -> None:
        """Delete one memory."""

    async def join(self, owner: str, kind: str, kept: str, others: Sequence[str]) -> None:
        """Merge memories with the same meaning into `kept`, with the threads of all; does nothing if `kept` is gone.

        Two processes may join the same ones at once, or the one that the other keeps: no thread is lost.
        """

    async def remove_learnt(self, thread_id: str) -> int:
        """Delete the memories that come from this conversation alone; return how many. Those that also come from others stay."""


class SqliteMemories:
    """The memories in a SQLite file."""

    def __init__(self, path: SqliteFile) -> None:
        self._database = Database(path, _SCHEMA)

    async def open(self) -> None:
        """Open the file, created when missing."""
        await self._database.open()

    async def close(self) -> None:
        """Close the file."""
        await self._database.close()

    async def put(self, row: MemoryRow, sources: Sequence[str]) -> None:
        """Insert or replace a memory."""

        def write(connection: sqlite3.Connection) -> None:
            connection.execute(_PUT, (row.owner, row.kind, row.id, row.body, row.created, row.updated))
            its = [(source, row.owner, row.kind, row.id) for source in sources]
            connection.executemany(_PUT_SOURCE, its)

        await self._database.write(write)

    async def get(self, owner: str, kind: str, memory_id: str) -> MemoryRow | None:
        """One memory."""

        def read(connection: sqlite3.Connection) -> MemoryRow | None:
            found = connection.execute(_GET, (owner, kind, memory_id)).fetchone()
            return MemoryRow(owner, *found) if found else None

        return await self._database.read(read)

    async def all_of(self, owner: str) -> list[MemoryRow]:
        """All memories of an owner, oldest first."""

        def read(connection: sqlite3.Connection) -> list[MemoryRow]:
            return [MemoryRow(owner, *row) for row in connection.execute(_ALL, (owner,))]

        return await self._database.read(read)

    async def owners(self) -> list[tuple[str, str]]:
        """Every owner with each kind of memory that it has."""

        def read(connection: sqlite3.Connection) -> list[tuple[str, str]]:
            return [(str(owner), str(kind)) for owner, kind in connection.execute(_OWNERS)]

        return await self._database.read(read)

    async def remove(self, owner: str, kind: str, memory_id: str) -> None:
        """Delete one memory."""

        def write(connection: sqlite3.Connection) -> None:
            for statement in _REMOVE:
                connection.execute(statement, (owner, kind, memory_id))

        await self._database.write(write)

    async def join(self, owner: str, kind: str, kept: str, others: Sequence[str]) -> None:
        """Make one memory of several."""

        def write(connection: sqlite3.Connection) -> None:
            if connection.execute(_GET, (owner, kind, kept)).fetchone() is None:
                return
            for other in others:
                connection.execute(_JOIN, (kept, owner, kind, other))
                for statement in _REMOVE:
                    connection.execute(statement, (owner, kind, other))

        await self._database.write(write)

    async def remove_learnt(self, thread_id: str) -> int:
        """Delete the memories that come from this conversation alone."""

        def write(connection: sqlite3.Connection) -> int:
            removed = connection.execute(_REMOVE_LEARNT, (thread_id, thread_id)).rowcount
            connection.execute(_REMOVE_SOURCE, (thread_id,))
            return removed

        return await self._database.write(write)
