"""Which conversation at a remote agent belongs to which conversation of ours."""

from __future__ import annotations

from pathlib import Path
from typing import Self
from uuid import UUID, uuid5

import aiosqlite

_NAMESPACE = UUID("5d1c2b0e-6d0f-4a57-9c54-0f6f0a3f7c11")

_SCHEMA = """
CREATE TABLE IF NOT EXISTS remote_contexts (
    thread_id TEXT NOT NULL,
    agent TEXT NOT NULL,
    context_id TEXT NOT NULL,
    PRIMARY KEY (thread_id, agent)
) WITHOUT ROWID
"""


class RemoteContexts:
    """A persisted map (our thread, agent) -> remote context id.

    A context that was never used gets a deterministic id, which our own agents accept; an agent that
    answers with another id is remembered with that one.
    """

    def __init__(self, connection: aiosqlite.Connection) -> None:
        self._connection = connection

    @classmethod
    async def open(cls, path: Path) -> Self:
        """Open the map in a SQLite file, made when missing."""
        connection = await aiosqlite.connect(path)
        await connection.execute("PRAGMA journal_mode=WAL")
        await connection.execute(_SCHEMA)
        await connection.commit()
        return cls(connection)

    async def close(self) -> None:
        """Close the file."""
        await self._connection.close()

    async def get(self, thread_id: str, agent: str) -> str:
        """The remote context id of a conversation at an agent."""
        query = "SELECT context_id FROM remote_contexts WHERE thread_id = ? AND agent = ?"
        async with self._connection.execute(query, (thread_id, agent)) as cursor:
            row = await cursor.fetchone()
        return str(row[0]) if row else str(uuid5(_NAMESPACE, f"{thread_id}/{agent}"))

    async def put(self, thread_id: str, agent: str, context_id: str) -> None:
        """Remember the id that an agent answered with."""
        await self._connection.execute(
            "INSERT INTO remote_contexts VALUES (?, ?, ?)"
            " ON CONFLICT DO UPDATE SET context_id = excluded.context_id",
            (thread_id, agent, context_id),
        )
        await self._connection.commit()
