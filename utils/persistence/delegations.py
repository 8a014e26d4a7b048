"""Stores delegations, the tasks that were sent to remote agents, until the task that they belong to ends.

LangGraph runs a tool again from its start when the graph resumes after an interrupt or a restart. From the stored record
the second run knows what the first one sent, so that nothing is sent twice.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from utils.persistence.database import Database
from utils.persistence.sqlite_file import SqliteFile

# The table keeps the name that it has in existing files.
_SCHEMA = """
CREATE TABLE IF NOT EXISTS errands (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    parent_task_id TEXT NOT NULL,
    thread_id TEXT NOT NULL,
    agent TEXT NOT NULL,
    call_id TEXT NOT NULL,
    step TEXT NOT NULL,
    request TEXT NOT NULL,
    context_id TEXT NOT NULL,
    task_id TEXT NOT NULL,
    sent INTEGER NOT NULL,
    state TEXT NOT NULL,
    questions TEXT NOT NULL,
    counted TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS errands_by_parent ON errands (parent_task_id, number);
CREATE INDEX IF NOT EXISTS errands_by_thread ON errands (thread_id, agent, state);
"""

_COLUMNS = (
    "id, parent_task_id, thread_id, agent, call_id, step, request,"
    " context_id, task_id, sent, state, questions, counted"
)

WORKING = "working"
WAITING = "waiting"
COMPLETED = "completed"
FAILED = "failed"
LEFT_OPEN = "left_open"
ABANDONED = "abandoned"


@dataclass(frozen=True, slots=True)
class DelegationRecord:
    """One delegation to a remote agent, in its last known state.

    Attributes:
        id: Id of its first message; derived from its cause, so that the same tool call has the same delegation.
        parent_task_id: Our task that it belongs to.
        thread_id: Our conversation.
        agent: Our name of the remote agent.
        call_id: The tool call that caused it.
        step: Id of the model's answer that made the call; delegations of one step run in parallel.
        request: What was asked, in words.
        context_id: The remote conversation.
        task_id: The remote task; empty until it is known.
        sent: How many messages were sent or were about to be: the request and each reply.
        state: `working`, `waiting` (for the user), `completed` or `failed`; `left_open` where it failed and the remote task
            may go on; `abandoned` where our task has ended and the remote task is to be canceled.
        counted: Usage that the remote task reported and that was added to our task: tokens by agent.
        questions: What the remote agent asked so far, in order; each as it is shown to the user.
    """

    id: str
    parent_task_id: str
    thread_id: str
    agent: str
    call_id: str
    step: str
    request: str
    context_id: str
    task_id: str = ""
    sent: int = 0
    state: str = WORKING
    questions: Sequence[Mapping[str, Any]] = ()
    counted: Mapping[str, Any] = field(default_factory=dict)


class DelegationStore:
    """The delegations in a SQLite file, which one process writes."""

    def __init__(self, path: SqliteFile) -> None:
        self._database = Database(path, _SCHEMA)

    async def open(self) -> None:
        """Open the file, created when missing.

        Raises:
            StorageError: The file cannot be opened.
        """
        await self._database.open()

    async def close(self) -> None:
        """Close the file."""
        await self._database.close()

    async def get(self, delegation_id: str) -> DelegationRecord | None:
        """A delegation by the id of its first message."""
        found = await self._find("id = ?", delegation_id)
        return found[0] if found else None

    async def of_task(self, parent_task_id: str) -> list[DelegationRecord]:
        """The delegations of one of our tasks that has not ended, oldest first."""
        return await self._find("parent_task_id = ? AND state != ?", parent_task_id, ABANDONED)

    async def unanswered(self, thread_id: str, agent: str) -> list[DelegationRecord]:
        """The open delegations of a conversation to the agent, oldest first: it works, or waits for the user."""
        where = "thread_id = ? AND agent = ? AND state IN (?, ?)"
        return await self._find(where, thread_id, agent, WORKING, WAITING)

    async def abandon(self, parent_task_id: str) -> list[DelegationRecord]:
        """End the delegations of a task that has ended: delete the finished ones, return those to cancel."""

        def write(connection: sqlite3.Connection) -> list[DelegationRecord]:
            connection.execute(
                "DELETE FROM errands WHERE parent_task_id = ? AND state IN (?, ?)",
                (parent_task_id, COMPLETED, FAILED),
            )
            connection.execute(
                "UPDATE errands SET state = ? WHERE parent_task_id = ?", (ABANDONED, parent_task_id)
            )
            return _found(connection, "parent_task_id = ?", parent_task_id)

        if not await self._find("parent_task_id = ?", parent_task_id):
            return []
        return await self._database.write(write)

    async def abandoned(self, agent: str) -> list[DelegationRecord]:
        """The delegations to an agent that are to be canceled."""
        return await self._find("agent = ? AND state = ?", agent, ABANDONED)

    async def put(self, record: DelegationRecord) -> None:
        """Insert or update a delegation."""
        names = [name.strip() for name in _COLUMNS.split(",")]
        marks = ", ".join("?" * len(names))
        changes = ", ".join(f"{name} = excluded.{name}" for name in names[1:])
        sql = (
            f"INSERT INTO errands ({_COLUMNS}) VALUES ({marks})"  # noqa: S608 - our own column names
            f" ON CONFLICT (id) DO UPDATE SET {changes}"
        )
        values = [_column(getattr(record, name)) for name in names]

        def write(connection: sqlite3.Connection) -> None:
            connection.execute(sql, values)

        await self._database.write(write)

    async def remove(self, delegation_id: str) -> None:
        """Delete a delegation that needs no further request to its agent."""

        def write(connection: sqlite3.Connection) -> None:
            connection.execute("DELETE FROM errands WHERE id = ?", (delegation_id,))

        await self._database.write(write)

    async def delete(self, thread_id: str) -> None:
        """Delete all delegations of a conversation, including those still to be canceled at their agent."""

        def write(connection: sqlite3.Connection) -> None:
            connection.execute("DELETE FROM errands WHERE thread_id = ?", (thread_id,))

        await self._database.write(write)

    async def _find(self, where: str, *values: str) -> list[DelegationRecord]:
        return await self._database.read(lambda connection: _found(connection, where, *values))


def _found(connection: sqlite3.Connection, where: str, *values: str) -> list[DelegationRecord]:
    sql = f"SELECT {_COLUMNS} FROM errands WHERE {where} ORDER BY number"  # noqa: S608 - our own conditions
    return [_record(row) for row in connection.execute(sql, values)]


def _record(row: tuple[Any, ...]) -> DelegationRecord:
    stored = DelegationRecord(*row)
    return replace(stored, questions=tuple(json.loads(row[-2])), counted=json.loads(row[-1]))


def _column(value: Any) -> Any:
    """The value for SQLite; mappings and lists become JSON."""
    if isinstance(value, str | int):
        return value
    return json.dumps(dict(value) if isinstance(value, Mapping) else list(value))
