"""The pool of one process over a database in memory, as far as the store of webhooks needs it."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from typing import Any, TypeVar, cast

from benchmarks.simulate.advisory_locks import AdvisoryLocks
from benchmarks.simulate.faulty_store import Link
from benchmarks.simulate.memory_database import memory_database
from benchmarks.simulate.notices import Notices
from benchmarks.simulate.process import Process
from utils.persistence.postgres.pool import PostgresPool
from utils.persistence.postgres.session_locks import SessionLocks

T = TypeVar("T")

_SCHEMA = """
CREATE TABLE push_configs (
    owner TEXT NOT NULL, task_id TEXT NOT NULL, id TEXT NOT NULL, body BLOB NOT NULL, sent INTEGER,
    PRIMARY KEY (owner, task_id, id)
)
"""


class SqlDatabase:
    """A database that all processes of a schedule share.

    Attributes:
        tables: Its tables.
        locks: Locks of sessions.
        session: The session whose statement runs.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self.tables = memory_database()
        self.tables.execute(_SCHEMA)
        self.locks = AdvisoryLocks(clock, longest_pause=None)
        self.session: Session | None = None
        self.tables.create_function("pg_try_advisory_lock", 1, self._try_lock)
        self.tables.create_function("pg_advisory_unlock", 1, self._unlock)

    def _try_lock(self, number: int) -> bool:
        assert self.session is not None
        return self.locks.take(self.session, number, shared=False)

    def _unlock(self, number: int) -> bool:
        assert self.session is not None
        self.locks.release(self.session, number)
        return True


class _Cursor:
    """The rows of a statement."""

    def __init__(self, cursor: sqlite3.Cursor) -> None:
        self._cursor = cursor
        self.rowcount = cursor.rowcount

    async def fetchall(self) -> list[Any]:
        return self._cursor.fetchall()

    async def fetchone(self) -> Any:
        return self._cursor.fetchone()


class Statements:
    """Runs statements in the words of psycopg."""

    def __init__(self, database: SqlDatabase) -> None:
        self._database = database
        self.told: list[tuple[str, str]] = []

    async def execute(self, statement: str | bytes, values: Sequence[Any] = ()) -> _Cursor:
        """Run one."""
        text = statement.decode() if isinstance(statement, bytes) else statement
        return _Cursor(self._database.tables.execute(text.replace("%s", "?"), values))


class Session(Statements):
    """A connection outside the pool, with locks.

    Attributes:
        process: Its process.
        closed: Whether it is closed.
    """

    def __init__(self, database: SqlDatabase, link: Link) -> None:
        super().__init__(database)
        self._link = link
        self.process = link.process
        self.closed = False

    @property
    def ended(self) -> bool:
        """Whether it is over."""
        return self.closed

    async def execute(self, statement: str | bytes, values: Sequence[Any] = ()) -> _Cursor:
        """Run one, over the network."""

        async def done() -> _Cursor:
            self._database.session = self
            return await Statements.execute(self, statement, values)

        cursor: _Cursor = await self._link.call("look", done)
        return cursor

    async def close(self) -> None:
        """Close it; its locks are free."""
        self.closed = True


class SqlPool:
    """The connections of one process.

    Attributes:
        schema: Name of the agent's schema.
        locks: What the process holds for longer than a transaction may last.
    """

    schema = "agent_simulated"

    def __init__(self, database: SqlDatabase, notices: Notices, link: Link) -> None:
        self._database = database
        self._notices = notices
        self._link = link
        self._process: Process = link.process
        self.locks = SessionLocks(cast("PostgresPool", self))

    async def run(self, work: Callable[[Any], Awaitable[T]]) -> T:
        """Run `work` in a transaction."""

        async def done() -> T:
            statements = Statements(self._database)
            self._database.tables.execute("BEGIN")
            try:
                result = await work(statements)
            except BaseException:
                self._database.tables.execute("ROLLBACK")
                raise
            self._database.tables.execute("COMMIT")
            for channel, payload in statements.told:
                self._notices.tell(channel, payload)
            return result

        answer: T = await self._link.call("run", done)
        return answer

    async def execute(self, statement: str, values: Sequence[Any] = ()) -> int:
        """Run one statement; the number of rows that it changed."""

        async def work(statements: Statements) -> int:
            return (await statements.execute(statement, values)).rowcount

        return await self.run(work)

    async def connect(self) -> Session:
        """A connection outside the pool."""

        async def done() -> Session:
            return Session(self._database, self._link)

        session: Session = await self._link.call("open", done)
        return session

    async def notify(self, statements: Statements, channel: str, payload: str = "") -> None:
        """Tell with the commit."""
        statements.told.append((channel, payload))

    def listen(self, channel: str) -> AsyncGenerator[str, None]:
        """What is told on a channel."""
        return self._notices.listen(self._process, channel)
