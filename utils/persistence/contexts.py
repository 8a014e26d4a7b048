"""Maps each local conversation to its conversation at each remote agent."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from uuid import UUID, uuid5

from utils.persistence.database import Database
from utils.persistence.sqlite_file import SqliteFile

_NAMESPACE = UUID("5d1c2b0e-6d0f-4a57-9c54-0f6f0a3f7c11")

_SCHEMA = """
CREATE TABLE IF NOT EXISTS remote_contexts (
    thread_id TEXT NOT NULL,
    agent TEXT NOT NULL,
    context_id TEXT NOT NULL,
    PRIMARY KEY (thread_id, agent)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS cleared_threads (
    thread_id TEXT NOT NULL PRIMARY KEY,
    times INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS thread_people (
    thread_id TEXT NOT NULL PRIMARY KEY,
    person TEXT NOT NULL,
    tenant TEXT NOT NULL
) WITHOUT ROWID
"""
_PUT = (
    "INSERT INTO remote_contexts VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET context_id = excluded.context_id"
)


@dataclass(frozen=True, slots=True)
class Person:
    """Whose a conversation is. `key` is empty for anonymous callers, `tenant` outside tenants."""

    key: str = ""
    tenant: str = ""


class RemoteContexts:
    """A persistent map from (local thread, agent) to the remote context id.

    An unused context gets a deterministic id, which the agents of this service accept. When an agent answers with
    another id, that one is stored. After `clear`, a thread gets new ids.
    """

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

    async def use(self, thread_id: str, agent: str, person: Person) -> str:
        """The remote context id of a conversation at an agent, which is in use from now on.

        Whose conversation it is, is stored with it: what goes on in the background is done for them.
        """
        belongs = "INSERT INTO thread_people VALUES (?, ?, ?) ON CONFLICT DO NOTHING"
        query = "SELECT context_id FROM remote_contexts WHERE thread_id = ? AND agent = ?"
        cleared = "SELECT times FROM cleared_threads WHERE thread_id = ?"

        def write(connection: sqlite3.Connection) -> str:
            connection.execute(belongs, (thread_id, person.key, person.tenant))
            if row := connection.execute(query, (thread_id, agent)).fetchone():
                return str(row[0])
            times = connection.execute(cleared, (thread_id,)).fetchone()
            context_id = first_id(thread_id, agent, times[0] if times else 0)
            connection.execute(_PUT, (thread_id, agent, context_id))
            return context_id

        return await self._database.write(write)

    async def put(self, thread_id: str, agent: str, context_id: str) -> None:
        """Store the id that is in use at an agent."""

        def write(connection: sqlite3.Connection) -> None:
            connection.execute(_PUT, (thread_id, agent, context_id))

        await self._database.write(write)

    async def used(self, thread_id: str) -> dict[str, str]:
        """The context ids that a conversation has at other agents, by agent."""
        rows = "SELECT agent, context_id FROM remote_contexts WHERE thread_id = ?"
        return await self._database.read(
            lambda connection: {
                str(agent): str(there) for agent, there in connection.execute(rows, (thread_id,))
            }
        )

    async def clear(self, thread_id: str) -> dict[str, str]:
        """Give a thread new context ids at every agent; return the old ones by agent."""
        rows = "SELECT agent, context_id FROM remote_contexts WHERE thread_id = ?"
        begin = "INSERT INTO cleared_threads VALUES (?, 1) ON CONFLICT DO UPDATE SET times = cleared_threads.times + 1"

        def write(connection: sqlite3.Connection) -> dict[str, str]:
            used = {str(agent): str(context) for agent, context in connection.execute(rows, (thread_id,))}
            connection.execute("DELETE FROM remote_contexts WHERE thread_id = ?", (thread_id,))
            connection.execute(begin, (thread_id,))
            return used

        return await self._database.write(write)

    async def person(self, thread_id: str) -> Person:
        """Whose conversation a thread is, as far as it is known."""
        query = "SELECT person, tenant FROM thread_people WHERE thread_id = ?"

        def read(connection: sqlite3.Connection) -> Person:
            row = connection.execute(query, (thread_id,)).fetchone()
            return Person(*row) if row else Person()

        return await self._database.read(read)

    async def delete(self, thread_id: str) -> None:
        """Delete what is known of a thread."""

        def write(connection: sqlite3.Connection) -> None:
            connection.execute("DELETE FROM remote_contexts WHERE thread_id = ?", (thread_id,))
            connection.execute("DELETE FROM cleared_threads WHERE thread_id = ?", (thread_id,))
            connection.execute("DELETE FROM thread_people WHERE thread_id = ?", (thread_id,))

        await self._database.write(write)


def first_id(thread_id: str, agent: str, cleared: int) -> str:
    """The ID of a context that was not used yet, derived from the number of clearings."""
    name = f"{thread_id}/{agent}/{cleared}" if cleared else f"{thread_id}/{agent}"
    return str(uuid5(_NAMESPACE, name))
