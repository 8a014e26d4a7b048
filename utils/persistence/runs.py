"""Stores the turns that were accepted and have not ended, so that the next process can go on with them."""

from __future__ import annotations

import json
import sqlite3
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import NamedTuple

from utils.persistence.database import Database
from utils.persistence.sqlite_file import SqliteFile

_SCHEMA = """
CREATE TABLE IF NOT EXISTS runs (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    task_id TEXT NOT NULL UNIQUE,
    conversation TEXT NOT NULL,
    owner TEXT NOT NULL,
    body BLOB NOT NULL,
    writer INTEGER NOT NULL,
    attempts INTEGER NOT NULL
);
"""
LOST = b"\xff"
"""The body of a row that cannot be read: it is no turn."""

RESTORED = 2**31 - 1
"""The attempts of a turn in a restored backup: it does not go on."""

QUESTION = b""
"""The body of a row for a task of a restored backup that waits for its user: it is no turn, and the question is not answered."""

_COLUMNS = "task_id, conversation, owner, body, writer, attempts"


@dataclass(frozen=True, slots=True)
class RunRow:
    """A turn that was accepted and has not ended.

    Attributes:
        task_id: Its task; a task has at most one turn at a time.
        conversation: Key of the conversation; one turn of a conversation runs at a time.
        owner: Owner of the task.
        body: The turn itself, as the engine encodes it.
        writer: Attempt number of the log's writer that the turn runs under: who holds an older one may not remove the row.
        attempts: How many processes have taken the turn over from one that died; `RESTORED` where that is not known.
    """

    task_id: str
    conversation: str
    owner: str
    body: bytes
    writer: int = 0
    attempts: int = 0


class UnderWay(NamedTuple):
    """One owner's turns under way: their number, and the bytes of their messages."""

    turns: int
    size: int


def conversation_key(owner: str, context_id: str) -> str:
    """Key of an owner's conversation. A list in JSON, since a separator could be part of a name."""
    return json.dumps([owner, context_id], ensure_ascii=False)


class RunStore(ABC):
    """The accepted turns that have not ended, oldest first. Every method raises `StorageError` if the storage fails."""

    @abstractmethod
    async def open(self) -> None:
        """Open the storage. Safe to call twice."""

    @abstractmethod
    async def close(self) -> None:
        """Close the storage. Safe to call twice."""

    @abstractmethod
    async def put(self, row: RunRow) -> None:
        """Add a turn behind the others. A row that an earlier turn of the task left is replaced, and not that of a newer writer."""

    @abstractmethod
    async def take(self, task_id: str, *, writer: int, attempts: int) -> None:
        """Record which process works on a turn and how often the turn was taken over; does nothing if the row is gone."""

    @abstractmethod
    async def remove(self, task_id: str, *, writer: int) -> None:
        """Remove an ended turn, unless a newer writer holds its row."""

    @abstractmethod
    async def row(self, task_id: str) -> RunRow | None:
        """That of one task."""

    @abstractmethod
    async def under_way(self, owner: str) -> UnderWay:
        """How many there are of an owner, and how large they are."""

    @abstractmethod
    async def rows(self) -> list[RunRow]:
        """All of them, oldest first."""


class MemoryRuns(RunStore):
    """Turns that are lost with the process."""

    def __init__(self) -> None:
        self._rows: dict[str, RunRow] = {}

    async def open(self) -> None:
        """Nothing to open."""

    async def close(self) -> None:
        """Nothing to close."""

    async def put(self, row: RunRow) -> None:
        """Add a turn behind the others."""
        known = self._rows.get(row.task_id)
        if known is None or known.writer <= row.writer:
            self._rows.pop(row.task_id, None)
            self._rows[row.task_id] = row

    async def take(self, task_id: str, *, writer: int, attempts: int) -> None:
        """Record which process works on a turn."""
        row = self._rows.get(task_id)
        if row is not None and row.writer <= writer:
            self._rows[task_id] = replace(row, writer=writer, attempts=attempts)

    async def remove(self, task_id: str, *, writer: int) -> None:
        """Remove an ended turn, unless a newer writer holds its row."""
        row = self._rows.get(task_id)
        if row is not None and row.writer <= writer:
            del self._rows[task_id]

    async def row(self, task_id: str) -> RunRow | None:
        """That of one task."""
        return self._rows.get(task_id)

    async def under_way(self, owner: str) -> UnderWay:
        """How many there are of an owner, and how large they are."""
        sizes = [len(row.body) for row in self._rows.values() if row.owner == owner]
        return UnderWay(len(sizes), sum(sizes))

    async def rows(self) -> list[RunRow]:
        """All of them, oldest first."""
        return list(self._rows.values())


class SqliteRuns(RunStore):
    """Turns in a SQLite file, which one process writes."""

    def __init__(self, path: SqliteFile) -> None:
        self._database = Database(path, _SCHEMA)

    async def open(self) -> None:
        """Open the file, created when missing."""
        await self._database.open()

    async def close(self) -> None:
        """Close the file."""
        await self._database.close()

    async def put(self, row: RunRow) -> None:
        """Add a turn behind the others."""
        insert = (
            f"INSERT OR REPLACE INTO runs ({_COLUMNS}) SELECT ?1, ?2, ?3, ?4, ?5, ?6"  # noqa: S608 - constant names
            " WHERE NOT EXISTS (SELECT 1 FROM runs WHERE task_id = ?1 AND writer > ?5)"
        )
        values = (row.task_id, row.conversation, row.owner, row.body, row.writer, row.attempts)
        await self._execute(insert, values)

    async def take(self, task_id: str, *, writer: int, attempts: int) -> None:
        """Record which process works on a turn."""
        update = "UPDATE runs SET writer = ?, attempts = ? WHERE task_id = ? AND writer <= ?"
        await self._execute(update, (writer, attempts, task_id, writer))

    async def remove(self, task_id: str, *, writer: int) -> None:
        """Remove an ended turn, unless a newer writer holds its row."""
        await self._execute("DELETE FROM runs WHERE task_id = ? AND writer <= ?", (task_id, writer))

    async def row(self, task_id: str) -> RunRow | None:
        """That of one task."""
        query = f"SELECT {_COLUMNS} FROM runs WHERE task_id = ?"  # noqa: S608 - constant names

        def read(connection: sqlite3.Connection) -> RunRow | None:
            columns = connection.execute(query, (task_id,)).fetchone()
            return RunRow(*columns) if columns else None

        return await self._database.read(read)

    async def under_way(self, owner: str) -> UnderWay:
        """How many there are of an owner, and how large they are."""
        query = "SELECT count(*), coalesce(sum(length(body)), 0) FROM runs WHERE owner = ?"

        def read(connection: sqlite3.Connection) -> UnderWay:
            return UnderWay(*connection.execute(query, (owner,)).fetchone())

        return await self._database.read(read)

    async def rows(self) -> list[RunRow]:
        """All of them, oldest first."""
        query = f"SELECT {_COLUMNS} FROM runs ORDER BY number"  # noqa: S608 - constant names

        def read(connection: sqlite3.Connection) -> list[RunRow]:
            return [RunRow(*columns) for columns in connection.execute(query)]

        return await self._database.read(read)

    async def _execute(self, statement: str, values: tuple[object, ...]) -> None:
        def write(connection: sqlite3.Connection) -> None:
            connection.execute(statement, values)

        await self._database.write(write)
