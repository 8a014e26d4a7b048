"""Which tool calls of a running task have begun and how they ended, in PostgreSQL."""

from __future__ import annotations

from utils.persistence.postgres.pool import PostgresPool
from utils.persistence.tool_record import CallKey, RecordedCall, ToolRecord

_CALL = "task_id = %s AND step = %s AND call_id = %s"
_GET = f"SELECT outcome FROM tool_calls WHERE {_CALL}"  # noqa: S608 - our own condition
_BEGIN = "INSERT INTO tool_calls (task_id, step, call_id) VALUES (%s, %s, %s) ON CONFLICT DO NOTHING"
_FINISH = """
INSERT INTO tool_calls (task_id, step, call_id, outcome) VALUES (%s, %s, %s, %s)
ON CONFLICT (task_id, step, call_id) DO UPDATE SET outcome = excluded.outcome
"""
_WITHDRAW = f"DELETE FROM tool_calls WHERE {_CALL} AND outcome IS NULL"  # noqa: S608 - our own condition
_FORGET = "DELETE FROM tool_calls WHERE task_id = %s"


class PostgresToolRecord(ToolRecord):
    """The table `tool_calls` of an agent's schema."""

    def __init__(self, pool: PostgresPool) -> None:
        self._pool = pool

    async def open(self) -> None:
        """Nothing to open: the pool is the process's."""

    async def close(self) -> None:
        """Nothing to close."""

    async def get(self, key: CallKey) -> RecordedCall | None:
        """A call that has begun; `None` for one that has not."""
        row = await self._pool.one(_GET, _columns(key))
        return None if row is None else RecordedCall(row[0])

    async def begin(self, key: CallKey) -> None:
        """Record that a call begins."""
        await self._pool.execute(_BEGIN, _columns(key))

    async def finish(self, key: CallKey, outcome: bytes) -> None:
        """Record the outcome of a call."""
        await self._pool.execute(_FINISH, (*_columns(key), outcome))

    async def withdraw(self, key: CallKey) -> None:
        """Delete the record of a call that has not ended."""
        await self._pool.execute(_WITHDRAW, _columns(key))

    async def forget(self, task_id: str) -> None:
        """Delete the records of a task."""
        await self._pool.execute(_FORGET, (task_id,))


def _columns(key: CallKey) -> tuple[str, str, str]:
    return key.task_id, key.step, key.call_id
