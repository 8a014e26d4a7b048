"""Journal of changes in PostgreSQL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agents.github.changes.journal import ASKED, INTENDED, UNKNOWN, Entry

if TYPE_CHECKING:
    from utils.persistence.postgres.pool import Connection, PostgresPool

SENDING_SECONDS = 120
"""After this time a change that is still being sent has an unknown outcome: its process is gone."""

_COLUMNS = "key, thread_id, task_id, digest, what, state, link"
_ASK = f"""
INSERT INTO changes ({_COLUMNS}) VALUES (%s, %s, %s, %s, %s, %s, '') ON CONFLICT (key) DO NOTHING
"""  # noqa: S608 - our own column names
_GET = f"SELECT {_COLUMNS} FROM changes WHERE key = %s"  # noqa: S608 - as above
_INTEND = """
UPDATE changes SET state = %s, changed = now() WHERE key = %s AND digest = %s AND task_id = %s AND state = %s
"""
_SETTLE = "UPDATE changes SET state = %s, link = %s, changed = now() WHERE key = %s AND state IN (%s, %s, %s)"
_LOST = """
UPDATE changes SET state = %s, changed = now() WHERE state = %s AND changed <= now() - make_interval(secs => %s)
"""
_UNKNOWN_WITH = "SELECT 1 FROM changes WHERE digest = %s AND state = %s LIMIT 1"
_UNREPORTED = (
    f"SELECT {_COLUMNS} FROM changes WHERE thread_id = %s AND state = %s AND NOT told ORDER BY number"  # noqa: S608 - as above
)
_MARK_REPORTED = "UPDATE changes SET told = true WHERE key = %s"
_DELETE = "DELETE FROM changes WHERE thread_id = %s AND state NOT IN (%s, %s)"
_BARE = (
    "UPDATE changes SET thread_id = '', task_id = '', what = '', link = '', told = true WHERE thread_id = %s"
)


class PostgresJournal:
    """The table `changes` of an agent's schema.

    Another replica may be sending a change at any time. A change that was being sent when its process was killed
    becomes `unknown` when it is older than a request takes, or when the only process of the agent starts.

    Args:
        pool: The connections.
    """

    def __init__(self, pool: PostgresPool) -> None:
        self._pool = pool

    async def open(self) -> None:
        """Settle what an earlier process was sending.

        Raises:
            StorageError: The database failed.
        """
        await self._pool.execute(_LOST, (UNKNOWN, INTENDED, 0 if self._pool.alone else SENDING_SECONDS))

    async def close(self) -> None:
        """Nothing to close."""

    async def delete(self, thread_id: str) -> None:
        """Delete what is recorded of a conversation, but for the digests of changes whose outcome is unknown."""
        await self._pool.execute(_DELETE, (thread_id, INTENDED, UNKNOWN))
        await self._pool.execute(_BARE, (thread_id,))

    async def ask(self, entry: Entry) -> tuple[Entry, bool]:
        """Record that the user is asked. Return the stored entry of this call, and whether it is new."""
        values = (entry.key, entry.thread_id, entry.task_id, entry.digest, entry.what.encode(), ASKED)
        async with self._pool.transaction() as db:  # not twice: the second time it would not be new
            former: Any = await (await db.execute(_GET, (entry.former,))).fetchone()
            if former is not None:
                return _entry(former), False
            new = (await db.execute(_ASK, values)).rowcount == 1
            row: Any = await (await db.execute(_GET, (entry.key,))).fetchone()
        return _entry(row), new

    async def intend(self, entry: Entry) -> bool:
        """Record that the change is about to be sent. Return False if it no longer waits for that."""
        values = (INTENDED, entry.key, entry.digest, entry.task_id, ASKED)
        async with self._pool.transaction() as db:
            return (await db.execute(_INTEND, values)).rowcount == 1

    async def settle(self, key: str, state: str, link: str = "") -> None:
        """Record the outcome. It is final, except that `unknown` may be replaced."""
        await self._pool.execute(_SETTLE, (state, link, key, ASKED, INTENDED, UNKNOWN))

    async def unknown_with(self, digest: str) -> bool:
        """Whether the same change was sent before with an unknown outcome."""
        await self._lose()
        return await self._pool.one(_UNKNOWN_WITH, (digest, UNKNOWN)) is not None

    async def unreported(self, thread_id: str) -> list[Entry]:
        """The changes of a conversation with an unknown outcome that was not reported yet, oldest first."""
        await self._lose()

        async def read(db: Connection) -> list[Entry]:
            return [
                _entry(row) for row in await (await db.execute(_UNREPORTED, (thread_id, UNKNOWN))).fetchall()
            ]

        return await self._pool.run(read)

    async def mark_reported(self, key: str) -> None:
        """Record that a change was reported to the user."""
        await self._pool.execute(_MARK_REPORTED, (key,))

    async def _lose(self) -> None:
        await self._pool.execute(_LOST, (UNKNOWN, INTENDED, SENDING_SECONDS))


def _entry(row: Any) -> Entry:
    key, thread_id, task_id, digest, what, state, link = row
    return Entry(key, thread_id, task_id, digest, bytes(what).decode(), state, link)
