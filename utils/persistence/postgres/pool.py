"""The connections of one process to PostgreSQL, in which each agent has a schema of its own.

Import this module only where DATABASE_URL is set: it imports the driver.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import Any, TypeVar

import psycopg
import structlog
from psycopg import AsyncConnection, sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg_pool import AsyncConnectionPool
from pydantic import SecretStr

from utils.errors import StorageError, StorageFull
from utils.persistence.postgres.answering import AnsweringConnection
from utils.persistence.postgres.cancelable_pool import CancelablePool
from utils.persistence.postgres.errors import DatabaseUnreachable, storage_errors
from utils.persistence.postgres.names import schema_name, short_name
from utils.persistence.postgres.session_locks import SessionLocks
from utils.persistence.postgres.startup import ENCODING, UNREADABLE, check_server, is_open, refusal, unusable
from utils.persistence.settings import DatabaseSettings
from utils.timing import backoff

log = structlog.get_logger(__name__)

Result = TypeVar("Result")
Connection = AsyncConnection[tuple[Any, ...]]
Work = Callable[[Connection], Awaitable[Result]]
Check = Callable[[AsyncConnection[Any], bool], Awaitable[None]]
"""Raises `psycopg.Error` for a connection that must not be used; the second argument says whether it is a new one."""

SILENT_SECONDS = 2.0
"""How long a server may take for a new connection before it counts as hanging; a loaded one takes a fraction."""

RECONNECT_SECONDS = 3.0
"""How long the pool tries to replace a lost connection before the next request starts over, so that none waits for its back-off."""

STANDSTILL_SECONDS = 30.0
"""How long a transaction may do nothing before the server ends it: a process that stands still must not hold up the others."""

OUTLAST_SECONDS = 10.0
"""How much longer than `STANDSTILL_SECONDS` a transaction waits for another process of the agent."""

FIRST_PAUSE = 0.2
LONGEST_PAUSE = 2.0
"""Seconds between attempts to reach a server that is unreachable."""

_ALIVE: dict[str, str | int | None] = {
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 15_000,
}
"""A peer that vanished is detected within about 25 seconds."""


_SESSION = """
SET search_path TO {}; SET lock_timeout TO {}; SET default_transaction_isolation TO 'read committed'; SET idle_session_timeout TO 0;
SET statement_timeout TO 0;
SET standard_conforming_strings TO on; SET bytea_output TO hex; SET extra_float_digits TO 1;
SET "DateStyle" TO 'ISO'; SET "IntervalStyle" TO postgres; SET idle_in_transaction_session_timeout TO {};
SELECT set_config(name, '0', false) FROM pg_catalog.pg_settings WHERE name = 'transaction_timeout'
"""
"""Settings of a session, whatever the defaults of the database or the user: it sees what was stored while it waited for a lock, lives
while it only listens or holds a lock, and uses the formats of the driver. A statement ends when it has waited too long for a lock, and
a connection that answers nothing is given up (`AnsweringConnection`): a time limit of the server would end a wait before that. A transaction whose process stalls, or is gone without the
server knowing it, is ended, and its locks are released. `transaction_timeout` is known since PostgreSQL 17."""
_OUTLAST = """
WITH before AS MATERIALIZED (SELECT current_setting('lock_timeout') AS lock_timeout)
SELECT set_config('lock_timeout', %s, true), pg_advisory_xact_lock(%s), set_config('lock_timeout', lock_timeout, true) FROM before
"""
_UNHURRIED = "SET idle_in_transaction_session_timeout TO 0"
"""Further setting for an upgrade: rewriting a table has no time limit."""


class PostgresPool:
    """Connections to one database; each looks for tables in the agent's schema.

    Connections are in autocommit: a statement alone is a transaction; `transaction` makes one of several.

    Args:
        settings: The address and the limits.
        agent: Registered name of the agent.

    Attributes:
        schema: Name of the agent's schema, not quoted.
        connect_seconds: How long a process that starts waits for a connection.
        wait_seconds: How long a caller waits for a connection, and a statement for a lock.
        alone: Whether this is the only process that works on the schema.
        full_at: When there was last no room for what a statement stores, by `time.monotonic()`.
        locks: What this process holds for longer than a transaction may last.
        check: Checks each new connection, once it has the settings of `session`, and each that is taken from the pool; with
            `None` these are only asked for an answer.
    """

    def __init__(self, settings: DatabaseSettings, *, agent: str) -> None:
        self._url = settings.url or SecretStr("")
        self._settings = settings
        self.schema = schema_name(agent)
        self.connect_seconds = settings.connect_seconds
        self.wait_seconds = settings.wait_seconds
        self.alone = False
        self.full_at = -math.inf
        self.locks = SessionLocks(self)
        self.check: Check | None = None
        self._pool: AsyncConnectionPool[Connection] | None = None

    @property
    def pool(self) -> AsyncConnectionPool[Connection]:
        """The driver's pool, for libraries that take one.

        Raises:
            StorageError: It is not open.
        """
        if self._pool is None:
            raise StorageError("The database is closed.")
        return self._pool

    async def open(self) -> None:
        """Check the server and connect. Safe to call twice. Creates nothing in the database.

        Raises:
            SettingsError: The server cannot be reached or used; the message says why, without the address.
        """
        if self._pool is not None:
            return
        await self._check()
        pool = CancelablePool(
            self.conninfo,
            connection_class=AnsweringConnection,
            min_size=1,
            max_size=self._settings.connections,
            open=False,
            timeout=self.wait_seconds,
            reconnect_timeout=RECONNECT_SECONDS,
            kwargs={"autocommit": True},
            configure=self._configure,
            check=self._check_taken,
            name=self.schema,
        )
        await pool.open()
        self._pool = pool

    @property
    def conninfo(self) -> str:
        """The address with the limits on waiting. It holds the password: never log it.

        Raises:
            SettingsError: It is no address.
        """
        try:
            seconds = max(2, round(self.connect_seconds))  # libpq takes no less
            parts: dict[str, str | int | None] = {"connect_timeout": seconds, "application_name": self.schema}
            parts |= _ALIVE
            parts.update(conninfo_to_dict(self._url.get_secret_value()), client_encoding=ENCODING)
            return make_conninfo("", **parts)
        except psycopg.Error as error:
            raise unusable(UNREADABLE) from error

    async def _check(self) -> None:
        conninfo = self.conninfo
        try:
            async with asyncio.timeout(self.connect_seconds), AsyncExitStack() as stack:
                pair: list[Connection] = []
                for _ in range(
                    2
                ):  # unprepared: a pooler may lead to a session in which another client prepared a statement of that name
                    connection = await AsyncConnection.connect(
                        conninfo, autocommit=True, prepare_threshold=None
                    )
                    stack.push_async_callback(connection.close)
                    pair.append(connection)
                await check_server(*pair, patience=self.connect_seconds / 2)
        except (psycopg.Error, OSError) as error:  # a TimeoutError is an OSError
            raise await refusal(error, conninfo) from error

    async def _configure(self, connection: Connection) -> None:
        await self.prepare(connection)

    async def _check_taken(self, connection: Connection) -> None:
        if self.check is None:
            await AsyncConnectionPool.check_connection(connection)
        else:
            await self.check(connection, False)

    async def prepare(self, connection: AsyncConnection[Any], *, wait_seconds: float | None = None) -> None:
        """Give a connection the settings of `session`, and check it.

        Raises:
            psycopg.Error: It cannot be used.
        """
        await connection.execute(self.session(wait_seconds))
        if self.check is not None:
            await self.check(connection, True)

    def session(self, wait_seconds: float | None = None) -> sql.Composed:
        """The first statements of a connection, which set the agent's schema and the settings of this service.

        Args:
            wait_seconds: How long a statement waits for a lock; with 0 neither the wait nor the statement has a limit;
                `self.wait_seconds` if unset.
        """
        seconds = self.wait_seconds if wait_seconds is None else wait_seconds
        statements = sql.SQL(_SESSION if seconds else f"{_SESSION}; {_UNHURRIED}")
        waits, pauses = (sql.Literal(math.ceil(each * 1000)) for each in (seconds, STANDSTILL_SECONDS))
        return statements.format(sql.Identifier(self.schema), waits, pauses)

    async def close(self) -> None:
        """Close every connection that is not in use, and those in use when they come back. Safe to call twice."""
        await self.locks.close()
        pool, self._pool = self._pool, None
        if pool is not None:
            await pool.close()

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[Connection]:
        """A connection of the pool, in autocommit. Waits up to `wait_seconds` for one that works.

        Raises:
            StorageError: There is none, or the database failed within the block.
        """
        try:
            with storage_errors():
                async with self.pool.connection() as connection:
                    yield connection
        except StorageFull:
            self.full_at = time.monotonic()
            raise

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Connection]:
        """A connection in a transaction, which is committed when the block ends and rolled back when it raises.

        Raises:
            StorageError: There is none, or the database failed. If the connection was lost during the commit, it may
                be stored nevertheless.
        """
        async with self.connection() as connection, connection.transaction():
            yield connection

    async def run(self, work: Work[Result]) -> Result:
        """Run `work` in a transaction. If the connection is lost, it is repeated for up to `wait_seconds`: it must be idempotent.

        Raises:
            StorageError: The database cannot be reached, or failed.
        """

        async def once() -> Result:
            async with self.transaction() as connection:
                return await work(connection)

        return await self.patiently(once)

    @staticmethod
    async def lock(connection: Connection, number: int) -> None:
        """Hold an advisory lock until the transaction of `connection` ends.

        Only processes of the agent hold one. It is waited for longer than for a table: a holder that stands still is replaced, and
        who goes on with its turn waits until the server has ended its transaction.
        """
        longest = math.ceil((STANDSTILL_SECONDS + OUTLAST_SECONDS) * 1000)
        await connection.execute(_OUTLAST.encode(), (f"{longest}ms", number))

    async def execute(self, statement: str, values: Sequence[object] = ()) -> int:
        """Run one idempotent statement, as `run` does; return how many rows it changed."""

        async def once() -> int:
            async with self.connection() as connection:
                return (await connection.execute(statement.encode(), values)).rowcount

        return await self.patiently(once)

    async def one(self, query: str, values: Sequence[object] = ()) -> tuple[Any, ...] | None:
        """The first row of a query, if any."""

        async def once() -> tuple[Any, ...] | None:
            async with self.connection() as connection:
                return await (await connection.execute(query.encode(), values)).fetchone()

        return await self.patiently(once)

    async def patiently(self, act: Callable[[], Awaitable[Result]]) -> Result:
        """Await `act()`, and repeat it for up to `wait_seconds` while the connection is lost.

        Raises:
            StorageError: The database cannot be reached, or failed.
        """
        clock = asyncio.get_running_loop().time
        deadline = clock() + self.wait_seconds
        while True:
            try:
                with storage_errors():
                    return await act()
            except DatabaseUnreachable:
                if clock() + FIRST_PAUSE >= deadline:
                    raise
                await asyncio.sleep(FIRST_PAUSE)

    async def connect(self, *, wait_seconds: float | None = None) -> Connection:
        """A direct connection outside the pool, in autocommit, for session state such as locks. The caller closes it.

        Args:
            wait_seconds: How long a statement waits for a lock; 0 for no limit, that of the pool if unset.

        Raises:
            StorageError: The server cannot be reached.
        """
        with storage_errors():
            return await self._connect(wait_seconds)

    async def _connect(self, wait_seconds: float | None = None) -> Connection:
        connection = await AsyncConnection.connect(self.conninfo, autocommit=True)
        try:
            await self.prepare(connection, wait_seconds=wait_seconds)
        except BaseException:
            await connection.close()
            raise
        return connection

    async def is_silent(self) -> bool:
        """Whether the server accepts a new connection but does not answer on it: it hangs. A server that is down accepts none."""
        try:
            async with asyncio.timeout(SILENT_SECONDS):
                connection = await AsyncConnection.connect(self.conninfo, autocommit=True)
        except TimeoutError:
            return await is_open(self.conninfo)
        except (psycopg.Error, OSError):
            return False
        await connection.close()
        return False

    def channel(self, name: str) -> str:
        """The channel `name` of this agent, as NOTIFY needs it: channels are shared by all schemas of a database."""
        return short_name(f"{self.schema}#{name}")

    async def notify(self, connection: Connection, channel: str, payload: str = "") -> None:
        """Wake the listeners of `channel` of this agent when the transaction of `connection` is committed."""
        await connection.execute("SELECT pg_notify(%s, %s)", (self.channel(channel), payload))

    async def listen(self, channel: str) -> AsyncGenerator[str, None]:
        """The notifications on `channel` of this agent, without end, on a direct connection.

        An empty text comes first and after each reconnection: what was notified before is lost, so look at the tables.
        A server that is away is waited for.
        """
        failed = 0
        while True:
            with suppress(StorageError, psycopg.Error, OSError):
                async for payload in self._listen(channel):
                    failed = 0
                    yield payload
            failed += 1
            await asyncio.sleep(backoff(failed, first=FIRST_PAUSE, longest=LONGEST_PAUSE))

    async def _listen(self, channel: str) -> AsyncGenerator[str, None]:
        connection = await self._connect()
        try:
            await connection.execute(sql.SQL("LISTEN {}").format(sql.Identifier(self.channel(channel))))
            yield ""
            async for notice in connection.notifies():
                yield notice.payload
        finally:
            await connection.close()
