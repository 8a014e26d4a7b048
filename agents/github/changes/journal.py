"""Journal of changes: each step is stored before it happens, so that nothing is sent twice.

LangGraph runs a tool again from its start when the user answers, and after a restart. The journal tells that run
what the first one did. A change that was being sent when the process was killed has an unknown outcome: it is
reported, never sent again.
"""

from __future__ import annotations

import sqlite3
import time
from dataclasses import dataclass

from utils.persistence.database import Database, Result, Work
from utils.persistence.sqlite_file import SqliteFile

_SCHEMA = """
PRAGMA synchronous=FULL;
CREATE TABLE IF NOT EXISTS changes (
    key TEXT PRIMARY KEY,
    thread_id TEXT NOT NULL,
    task_id TEXT NOT NULL,
    digest TEXT NOT NULL,
    what TEXT NOT NULL,
    state TEXT NOT NULL,
    link TEXT NOT NULL DEFAULT '',
    told INTEGER NOT NULL DEFAULT 0,
    asked_at REAL NOT NULL
);
CREATE INDEX IF NOT EXISTS changes_by_digest ON changes (digest, state);
CREATE INDEX IF NOT EXISTS changes_by_thread ON changes (thread_id, state, told);
UPDATE changes SET state = 'unknown' WHERE state = 'intended';
"""
# The last statement runs when the file is opened, when nothing is being sent.

_COLUMNS = "key, thread_id, task_id, digest, what, state, link"

ASKED = "asked"
INTENDED = "intended"
DONE = "done"
DECLINED = "declined"
REFUSED = "refused"
UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Entry:
    """One change of one tool call.

    Attributes:
        key: Identifies the tool call.
        thread_id: The conversation.
        task_id: The task whose user was asked; an answer to another task's question does not count.
        digest: Digest of the change that was shown.
        what: A noun phrase for the change.
        state: `asked`, `intended`, `done`, `declined`, `refused` (by GitHub) or `unknown`.
        link: Address of what was created.
        former: What earlier versions identified the tool call by; an entry under it is that of the call.
    """

    key: str
    thread_id: str
    task_id: str
    digest: str
    what: str
    state: str = ASKED
    link: str = ""
    former: str = ""


class Journal:
    """The table of changes in a SQLite file; opened on first use."""

    def __init__(self, path: SqliteFile) -> None:
        self._database = Database(path, _SCHEMA)

    async def open(self) -> None:
        """Open the file, created when missing. A change that was being sent when a process was killed becomes `unknown`.

        Raises:
            StorageError: The file cannot be opened.
        """
        await self._database.open()

    async def close(self) -> None:
        """Close the file. Safe to call twice."""
        await self._database.close()

    async def delete(self, thread_id: str) -> None:
        """Delete what is recorded of a conversation, but for the digests of changes whose outcome is unknown.

        They hold no word of it, and keep the same change from being sent twice.
        """
        gone = "DELETE FROM changes WHERE thread_id = ? AND state NOT IN (?, ?)"
        bare = "UPDATE changes SET thread_id = '', task_id = '', what = '', link = '', told = 1 WHERE thread_id = ?"

        def write(connection: sqlite3.Connection) -> None:
            connection.execute(gone, (thread_id, INTENDED, UNKNOWN))
            connection.execute(bare, (thread_id,))

        await self._write(write)

    async def ask(self, entry: Entry) -> tuple[Entry, bool]:
        """Record that the user is asked. Return the stored entry of this call, and whether it is new."""
        values = (entry.key, entry.thread_id, entry.task_id, entry.digest, entry.what, ASKED, "", time.time())
        sql = f"INSERT OR IGNORE INTO changes ({_COLUMNS}, asked_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"  # noqa: S608 - our own column names

        get = f"SELECT {_COLUMNS} FROM changes WHERE key = ?"  # noqa: S608 - as above

        def write(connection: sqlite3.Connection) -> tuple[Entry, bool]:
            if row := connection.execute(get, (entry.former,)).fetchone():
                return Entry(*row), False
            new = connection.execute(sql, values).rowcount == 1
            row = connection.execute(get, (entry.key,)).fetchone()
            return Entry(*row), new

        return await self._write(write)

    async def intend(self, entry: Entry) -> bool:
        """Record that the change is about to be sent. Return False if it no longer waits for that."""
        sql = "UPDATE changes SET state = ? WHERE key = ? AND digest = ? AND task_id = ? AND state = ?"
        values = (INTENDED, entry.key, entry.digest, entry.task_id, ASKED)

        def write(connection: sqlite3.Connection) -> bool:
            return connection.execute(sql, values).rowcount == 1

        return await self._write(write)

    async def settle(self, key: str, state: str, link: str = "") -> None:
        """Record the outcome. It is final, except that `unknown` may be replaced."""
        sql = "UPDATE changes SET state = ?, link = ? WHERE key = ? AND state IN (?, ?, ?)"
        values = (state, link, key, ASKED, INTENDED, UNKNOWN)

        def write(connection: sqlite3.Connection) -> None:
            connection.execute(sql, values)

        await self._write(write)

    async def unknown_with(self, digest: str) -> bool:
        """Whether the same change was sent before with an unknown outcome."""
        sql = "SELECT 1 FROM changes WHERE digest = ? AND state = ? LIMIT 1"

        def read(connection: sqlite3.Connection) -> bool:
            return connection.execute(sql, (digest, UNKNOWN)).fetchone() is not None

        await self.open()
        return await self._database.read(read)

    async def unreported(self, thread_id: str) -> list[Entry]:
        """The changes of a conversation with an unknown outcome that was not reported yet, oldest first."""
        where = "thread_id = ? AND state = ? AND told = 0 ORDER BY asked_at"
        sql = f"SELECT {_COLUMNS} FROM changes WHERE {where}"  # noqa: S608 - our own words

        def read(connection: sqlite3.Connection) -> list[Entry]:
            return [Entry(*row) for row in connection.execute(sql, (thread_id, UNKNOWN))]

        await self.open()
        return await self._database.read(read)

    async def mark_reported(self, key: str) -> None:
        """Record that a change was reported to the user."""

        def write(connection: sqlite3.Connection) -> None:
            connection.execute("UPDATE changes SET told = 1 WHERE key = ?", (key,))

        await self._write(write)

    async def _write(self, work: Work[Result]) -> Result:
        await self.open()
        return await self._database.write(work)
