"""Delegations until the task that they belong to ends, in PostgreSQL."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from utils.persistence.delegations import ABANDONED, COMPLETED, FAILED, WAITING, WORKING, DelegationRecord
from utils.persistence.postgres.pool import Connection, PostgresPool

_COLUMNS = (
    "id, parent_task_id, thread_id, agent, call_id, step, request,"
    " context_id, task_id, sent, state, questions, counted"
)
_FIND = f"SELECT {_COLUMNS} FROM delegations"  # noqa: S608 - constant names
_BY_ID = f"{_FIND} WHERE id = %s"
_OF_TASK = f"{_FIND} WHERE parent_task_id = %s AND state <> %s ORDER BY number"
_OF_PARENT = f"{_FIND} WHERE parent_task_id = %s ORDER BY number"
_UNANSWERED = f"{_FIND} WHERE thread_id = %s AND agent = %s AND state IN (%s, %s) ORDER BY number"
_AT_AGENT = f"{_FIND} WHERE agent = %s AND state = %s ORDER BY number"
_DELETE_ENDED = "DELETE FROM delegations WHERE parent_task_id = %s AND state IN (%s, %s)"
_SET_STATE = "UPDATE delegations SET state = %s WHERE parent_task_id = %s"
_REMOVE = "DELETE FROM delegations WHERE id = %s"
_DELETE = "DELETE FROM delegations WHERE thread_id = %s"
_PUT = """
INSERT INTO delegations (id, parent_task_id, thread_id, agent, call_id, step, request, context_id, task_id, sent, state,
    questions, counted) VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)
ON CONFLICT (id) DO UPDATE SET parent_task_id = excluded.parent_task_id, thread_id = excluded.thread_id,
    agent = excluded.agent, call_id = excluded.call_id, step = excluded.step, request = excluded.request,
    context_id = excluded.context_id, task_id = excluded.task_id, sent = excluded.sent, state = excluded.state,
    questions = excluded.questions, counted = excluded.counted
"""


class PostgresDelegations:
    """The table `delegations` of an agent's schema."""

    def __init__(self, pool: PostgresPool) -> None:
        self._pool = pool

    async def open(self) -> None:
        """Nothing to open: the pool is the process's."""

    async def close(self) -> None:
        """Nothing to close."""

    async def get(self, delegation_id: str) -> DelegationRecord | None:
        """A delegation by the id of its first message."""
        found = await self._find(_BY_ID, delegation_id)
        return found[0] if found else None

    async def of_task(self, parent_task_id: str) -> list[DelegationRecord]:
        """The delegations of one of our tasks that has not ended, oldest first."""
        return await self._find(_OF_TASK, parent_task_id, ABANDONED)

    async def unanswered(self, thread_id: str, agent: str) -> list[DelegationRecord]:
        """The open delegations of a conversation to the agent, oldest first: it works, or waits for the user."""
        return await self._find(_UNANSWERED, thread_id, agent, WORKING, WAITING)

    async def abandon(self, parent_task_id: str) -> list[DelegationRecord]:
        """End the delegations of a task that has ended: delete the finished ones, return those to cancel."""

        async def abandon(db: Connection) -> list[DelegationRecord]:
            await db.execute(_DELETE_ENDED, (parent_task_id, COMPLETED, FAILED))
            await db.execute(_SET_STATE, (ABANDONED, parent_task_id))
            return await _found(db, _OF_PARENT, parent_task_id)

        return await self._pool.run(abandon)

    async def abandoned(self, agent: str) -> list[DelegationRecord]:
        """The delegations to an agent that are to be canceled."""
        return await self._find(_AT_AGENT, agent, ABANDONED)

    async def put(self, record: DelegationRecord) -> None:
        """Insert or update a delegation."""
        values = (
            record.id,
            record.parent_task_id,
            record.thread_id,
            record.agent,
            record.call_id,
            record.step,
            _stored(record.request),
            record.context_id,
            record.task_id,
            record.sent,
            record.state,
            _stored(json.dumps(list(record.questions))),
            _stored(json.dumps(dict(record.counted))),
        )
        await self._pool.execute(_PUT, values)

    async def remove(self, delegation_id: str) -> None:
        """Delete a delegation of which nothing is left at its agent."""
        await self._pool.execute(_REMOVE, (delegation_id,))

    async def delete(self, thread_id: str) -> None:
        """Delete all delegations of a conversation, those too that were still to be canceled at their agent."""
        await self._pool.execute(_DELETE, (thread_id,))

    async def _find(self, query: str, *values: str) -> list[DelegationRecord]:
        return await self._pool.run(lambda db: _found(db, query, *values))


async def _found(db: Connection, query: str, *values: str) -> list[DelegationRecord]:
    rows: list[Any] = await (await db.execute(query.encode(), values)).fetchall()
    return [_record(row) for row in rows]


def _record(row: tuple[Any, ...]) -> DelegationRecord:
    stored = DelegationRecord(*row)
    return replace(
        stored,
        request=bytes(row[6]).decode("utf-8"),
        questions=tuple(json.loads(row[-2])),
        counted=json.loads(row[-1]),
    )


def _stored(text: str) -> bytes:
    return text.encode("utf-8", "replace")
