"""Maps each local conversation to its conversation at each remote agent, in PostgreSQL."""

from __future__ import annotations

from typing import Any

from utils.persistence.contexts import Person, first_id
from utils.persistence.postgres.pool import Connection, PostgresPool

_GET = "SELECT context_id FROM remote_contexts WHERE thread_id = %s AND agent = %s"
_USED = "SELECT agent, context_id FROM remote_contexts WHERE thread_id = %s"
_CLEARED = "SELECT times FROM cleared_threads WHERE thread_id = %s"
_PUT = """
INSERT INTO remote_contexts (thread_id, agent, context_id) VALUES (%s, %s, %s)
ON CONFLICT (thread_id, agent) DO UPDATE SET context_id = excluded.context_id
"""
_TAKE = "DELETE FROM remote_contexts WHERE thread_id = %s RETURNING agent, context_id"
_CLEAR = """
INSERT INTO cleared_threads (thread_id, times) VALUES (%s, 1)
ON CONFLICT (thread_id) DO UPDATE SET times = cleared_threads.times + 1
"""
_DELETE = "DELETE FROM cleared_threads WHERE thread_id = %s"
_PERSON = "SELECT person, tenant FROM thread_people WHERE thread_id = %s"
_BELONGS = "INSERT INTO thread_people (thread_id, person, tenant) VALUES (%s, %s, %s) ON CONFLICT DO NOTHING"
_NOBODY = "DELETE FROM thread_people WHERE thread_id = %s"


class PostgresRemoteContexts:
    """The tables `remote_contexts`, `cleared_threads` and `thread_people` of an agent's schema."""

    def __init__(self, pool: PostgresPool) -> None:
        self._pool = pool

    async def open(self) -> None:
        """Nothing to open: the pool is the process's."""

    async def close(self) -> None:
        """Nothing to close."""

    async def use(self, thread_id: str, agent: str, person: Person) -> str:
        """The remote context id of a conversation at an agent, which is in use from now on; it is that of a person."""

        async def use(db: Connection) -> str:
            await db.execute(_BELONGS, (thread_id, person.key, person.tenant))
            row: Any = await (await db.execute(_GET, (thread_id, agent))).fetchone()
            if row is not None:
                return str(row[0])
            times: Any = await (await db.execute(_CLEARED, (thread_id,))).fetchone()
            context_id = first_id(thread_id, agent, times[0] if times else 0)
            await db.execute(_PUT, (thread_id, agent, context_id))
            return context_id

        return await self._pool.run(use)

    async def put(self, thread_id: str, agent: str, context_id: str) -> None:
        """Store the id that is in use at an agent."""
        await self._pool.execute(_PUT, (thread_id, agent, context_id))

    async def used(self, thread_id: str) -> dict[str, str]:
        """The context ids that a conversation has at other agents, by agent."""

        async def read(db: Connection) -> dict[str, str]:
            rows: list[Any] = await (await db.execute(_USED, (thread_id,))).fetchall()
            return {str(agent): str(context) for agent, context in rows}

        return await self._pool.run(read)

    async def clear(self, thread_id: str) -> dict[str, str]:
        """Give a thread new context ids at every agent; return the old ones by agent."""

        async def clear(db: Connection) -> dict[str, str]:
            rows: list[Any] = await (await db.execute(_TAKE, (thread_id,))).fetchall()
            await db.execute(_CLEAR, (thread_id,))
            return {str(agent): str(context) for agent, context in rows}

        return await self._pool.run(clear)

    async def person(self, thread_id: str) -> Person:
        """Whose conversation a thread is, as far as it is known."""
        row = await self._pool.one(_PERSON, (thread_id,))
        return Person(str(row[0]), str(row[1])) if row is not None else Person()

    async def delete(self, thread_id: str) -> None:
        """Delete what is known of a thread."""

        async def delete(db: Connection) -> None:
            await db.execute(_TAKE, (thread_id,))
            await db.execute(_DELETE, (thread_id,))
            await db.execute(_NOBODY, (thread_id,))

        await self._pool.run(delete)
