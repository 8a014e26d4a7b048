"""Stores which tool calls of a running task have begun and how they ended, so that a resumed turn repeats none.

LangGraph writes the end of a tool call after the tool has returned. A process that dies in between would run the tool
again when the turn is resumed. The record of a call is therefore written before the tool runs and, with its outcome,
before anything of the outcome is reported.
"""

from __future__ import annotations

import asyncio
import sqlite3
from abc import ABC, abstractmethod
from dataclasses import dataclass

from utils.persistence.database import Database
from utils.persistence.sqlite_file import SqliteFile

_SCHEMA = """
CREATE TABLE IF NOT EXISTS tool_calls (
    task_id TEXT NOT NULL,
    step TEXT NOT NULL,
    call_id TEXT NOT NULL,
    outcome BLOB,
    PRIMARY KEY (task_id, step, call_id)
) WITHOUT ROWID
"""
_CALL = "task_id = ? AND step = ? AND call_id = ?"
_READ = f"SELECT outcome FROM tool_calls WHERE {_CALL}"  # noqa: S608 - our own condition
_WITHDRAW = f"DELETE FROM tool_calls WHERE {_CALL} AND outcome IS NULL"  # noqa: S608 - our own condition
_FORGET = "DELETE FROM tool_calls WHERE task_id = ?"
_BEGIN = "INSERT OR IGNORE INTO tool_calls VALUES (?, ?, ?, NULL)"
_FINISH = "INSERT INTO tool_calls VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET outcome = excluded.outcome"


@dataclass(frozen=True, slots=True)
class CallKey:
    """Identifies a tool call.

    Attributes:
        task_id: The task that it belongs to.
        step: Id of the model's answer that made the call, since call ids alone may repeat.
        call_id: Id of the call in that answer.
    """

    task_id: str
    step: str
    call_id: str


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """The record of a call that has begun.

    Attributes:
        outcome: The encoded outcome; `None` while the call has not ended.
    """

    outcome: bytes | None = None


class ToolRecord(ABC):
    """The tool calls of tasks that have not ended."""

    @abstractmethod
    async def open(self) -> None:
        """Open the store. Safe to call twice, also at once.

        Raises:
            StorageError: It cannot be opened.
        """

    @abstractmethod
    async def close(self) -> None:
        """Close the store. Safe to call twice."""

    @abstractmethod
    async def get(self, key: CallKey) -> RecordedCall | None:
        """A call that has begun; `None` for one that has not."""

    @abstractmethod
    async def begin(self, key: CallKey) -> None:
        """Record that a call begins; the outcome of one that has ended already is kept."""

    @abstractmethod
    async def finish(self, key: CallKey, outcome: bytes) -> None:
        """Record the outcome of a call, whether or not its begin was recorded."""

    @abstractmethod
    async def withdraw(self, key: CallKey) -> None:
        """Delete the record of a call that has begun and not ended; the outcome of one that has ended is kept."""

    @abstractmethod
    async def forget(self, task_id: str) -> None:
        """Delete the records of a task that has ended."""


class MemoryToolRecord(ToolRecord):
    """Keeps the records in memory, for conversations that do not survive the process either."""

    def __init__(self) -> None:
        self._calls: dict[str, dict[CallKey, RecordedCall]] = {}

    async def open(self) -> None:
        """Do nothing: memory is always open."""

    async def close(self) -> None:
        """Keep the records: an agent that is started again in the same process goes on with them."""

    async def get(self, key: CallKey) -> RecordedCall | None:
        """A call that has begun; `None` for one that has not."""
        return self._calls.get(key.task_id, {}).get(key)

    async def begin(self, key: CallKey) -> None:
        """Record that a call begins."""
        self._calls.setdefault(key.task_id, {}).setdefault(key, RecordedCall())

    async def finish(self, key: CallKey, outcome: bytes) -> None:
        """Record the outcome of a call."""
        self._calls.setdefault(key.task_id, {})[key] = RecordedCall(outcome)

    async def withdraw(self, key: CallKey) -> None:
        """Delete the record of a call that has not ended."""
        calls = self._calls.get(key.task_id, {})
        if calls.get(key) == RecordedCall():
            del calls[key]

    async def forget(self, task_id: str) -> None:
        """Delete the records of a task."""
        self._calls.pop(task_id, None)


class SqliteToolRecord(ToolRecord):
    """Keeps the records in a SQLite file.

    Args:
        path: The file, created when missing.
    """

    def __init__(self, path: SqliteFile) -> None:
        self._database = Database(path, _SCHEMA)
        self._tasks: set[str] | None = None  # those with records; known once the file is open
        self._opening = asyncio.Lock()

    async def open(self) -> None:
        """Open the file.

        Raises:
            StorageError: It cannot be opened.
        """
        async with self._opening:  # a second read of the task ids would replace those that were added since
            if self._tasks is None:
                await self._database.open()
                self._tasks = await self._database.read(_task_ids)

    async def close(self) -> None:
        """Close the file."""
        await self._database.close()
        self._tasks = None

    async def get(self, key: CallKey) -> RecordedCall | None:
        """A call that has begun; `None` for one that has not."""

        def read(connection: sqlite3.Connection) -> RecordedCall | None:
            row = connection.execute(_READ, _columns(key)).fetchone()
            return RecordedCall(row[0]) if row else None

        return await self._database.read(read)

    async def begin(self, key: CallKey) -> None:
        """Record that a call begins."""
        await self._execute(_BEGIN, *_columns(key), task_id=key.task_id)

    async def finish(self, key: CallKey, outcome: bytes) -> None:
        """Record the outcome of a call."""
        await self._execute(_FINISH, *_columns(key), outcome, task_id=key.task_id)

    async def withdraw(self, key: CallKey) -> None:
        """Delete the record of a call that has not ended."""
        await self._execute(_WITHDRAW, *_columns(key))

    async def forget(self, task_id: str) -> None:
        """Delete the records of a task; nothing is written for a task without any."""
        if self._tasks is None or task_id in self._tasks:
            await self._execute(_FORGET, task_id)
            if self._tasks is not None:
                self._tasks.discard(task_id)

    async def _execute(self, statement: str, *values: str | bytes, task_id: str = "") -> None:
        if self._tasks is not None and task_id:
            self._tasks.add(task_id)

        def write(connection: sqlite3.Connection) -> None:
            connection.execute(statement, values)

        await self._database.write(write)


def _task_ids(connection: sqlite3.Connection) -> set[str]:
    return {str(task_id) for (task_id,) in connection.execute("SELECT DISTINCT task_id FROM tool_calls")}


def _columns(key: CallKey) -> tuple[str, str, str]:
    return key.task_id, key.step, key.call_id
