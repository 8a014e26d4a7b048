"""Checks a database before its first use, so that a problem is reported in one sentence when the process starts.

No sentence quotes the address or the server's own words, which may hold a name or a password.
"""

from __future__ import annotations

import asyncio
import secrets
import socket
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from utils.errors import SettingsError

if TYPE_CHECKING:
    from psycopg import AsyncConnection

OLDEST = 14
"""Oldest major version of PostgreSQL that this service is tested with and supported on."""

ENCODING = "UTF8"
"""The encoding that a database must have to store users' text."""

POSTGRES_PORT = 5432
"""PostgreSQL's default port."""

PROBE_SECONDS = 2.0
"""Longest wait for the port of a server that refused the connection."""

READ_ONLY_QUERY = "SELECT pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on'"

_TRIAL = 20_311
"""First half of the number of the lock of this check: no other lock of this service has a number in two halves."""

_HELD_QUERY = """
SELECT EXISTS (
    SELECT FROM pg_locks
    WHERE locktype = 'advisory' AND objsubid = 2 AND granted AND classid::bigint = %s AND objid::bigint = %s
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
)
"""

_LOOK_SECONDS = 0.02

VARIABLE = "DATABASE_URL"

NO_DRIVER = (
    "DATABASE_URL needs the packages psycopg and psycopg_pool, which are not installed here. "
    "Run `make setup`, or unset DATABASE_URL to store data in files."
)
UNREACHABLE = (
    "The database at DATABASE_URL cannot be reached: it did not answer within DATABASE_CONNECT_SECONDS, or refused the "
    "connection. See that it runs, and that host, port, user, password and name of the database are right. "
    "The server's own log has the reason."
)
UNKNOWN_HOST = (
    "The host in DATABASE_URL is not known: its name cannot be resolved from here. Check how it is written, and the DNS of "
    "this machine or cluster."
)
SILENT = (
    "Nothing answers at the host and port of DATABASE_URL. See that PostgreSQL runs there, that the port is right, and that no "
    "firewall or network policy stands between."
)
SLOW = (
    "Something listens at the host and port of DATABASE_URL, but did not answer within DATABASE_CONNECT_SECONDS. See that it is "
    "PostgreSQL, and whether it is overloaded."
)
REFUSED = (
    "The server at DATABASE_URL answers, but refused the connection. See that user, password and name of the database are "
    "right, that its pg_hba.conf lets this machine in, that it offers TLS where the address asks for it with sslmode, and "
    "that it has connections left. The server's own log has the reason."
)
UNREADABLE = (
    "DATABASE_URL is no address of a PostgreSQL database: expected postgresql://user:password@host:5432/name."
)
TOO_OLD = "The database at DATABASE_URL is PostgreSQL {found}. This service needs {oldest} or later."
POOLED = (
    "DATABASE_URL leads to a connection pooler that keeps no sessions, so locks and notifications are lost: one in transaction or "
    "statement mode, or one that does not reset a session before another client gets it (`server_reset_query` of PgBouncer). "
    "Use the address of PostgreSQL itself, or of a pooler in session mode that does."
)
TOO_FEW = (
    "The server at DATABASE_URL gives this process too few connections: it answers, but the queue of turns got none. Each process "
    "needs up to DATABASE_CONNECTIONS and eight more. Raise what limits them: max_connections, the CONNECTION LIMIT of the user or of the "
    "database, or the size of a pooler's pool."
)
NOT_UNICODE = (
    "The database at DATABASE_URL has the encoding {found}, which does not hold every character. Use a database in UTF8: "
    "CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0."
)
READ_ONLY = (
    "The database at DATABASE_URL can only be read, as a standby is. Use the address of the primary server."
)


def unusable(reason: str) -> SettingsError:
    """The error that keeps a process from starting."""
    return SettingsError(VARIABLE, reason)


async def refusal(error: BaseException, conninfo: str) -> SettingsError:
    """Why the first connection failed. libpq reports no code, and its text is not parsed, so the port is probed."""
    import psycopg

    if isinstance(error, psycopg.ProgrammingError):
        return unusable(UNREADABLE)
    place = _place(conninfo)
    if place is None:
        return unusable(UNREACHABLE)
    problem = await _probe_port(*place)
    late = isinstance(error, TimeoutError | psycopg.errors.ConnectionTimeout)
    return unusable(problem or (SLOW if late else REFUSED))


async def is_open(conninfo: str) -> bool:
    """Whether the port of a database is open. A local socket and an address with several hosts count as open."""
    place = _place(conninfo)
    return place is None or await _probe_port(*place) is None


def _place(conninfo: str) -> tuple[str, str] | None:
    """Host and port of an address; `None` for several of them, or a socket of this machine."""
    from psycopg.conninfo import conninfo_to_dict

    parts = conninfo_to_dict(conninfo)
    hosts = str(parts.get("hostaddr") or parts.get("host") or "").split(",")
    if len(hosts) != 1 or not hosts[0] or hosts[0].startswith(("/", "@")):
        return None
    return hosts[0], str(parts.get("port") or POSTGRES_PORT)


async def _probe_port(host: str, port: str) -> str | None:
    """Why a connection to a port fails; `None` if it succeeds."""
    try:
        async with asyncio.timeout(PROBE_SECONDS):
            _, writer = await asyncio.open_connection(host, port)
    except socket.gaierror:
        return UNKNOWN_HOST
    except OSError:  # a TimeoutError is one too
        return SILENT
    writer.close()
    return None


async def check_server(first: AsyncConnection, second: AsyncConnection, *, patience: float) -> None:
    """Check version and encoding, and that a session lives exactly as long as its connection. Closes `first`.

    Args:
        first: A connection in autocommit.
        second: Another one.
        patience: Seconds that the server may take to end the session of a closed connection.

    Raises:
        SettingsError: The server cannot be used; the message says why.
    """
    major = first.info.server_version // 10_000
    if major < OLDEST:
        raise unusable(TOO_OLD.format(found=major, oldest=OLDEST))
    encoding = await _one(second, "SELECT getdatabaseencoding()")
    if encoding != ENCODING:
        raise unusable(NOT_UNICODE.format(found=encoding))
    if not await _keeps_sessions(first, second, patience):
        raise unusable(POOLED)
    if await _one(second, READ_ONLY_QUERY):
        raise unusable(READ_ONLY)


async def _keeps_sessions(first: AsyncConnection, second: AsyncConnection, patience: float) -> bool:
    """Whether a lock of a session is held until its connection is closed, and is free afterwards.

    All features of sessions that this service needs are tested, whatever poolers there are in between: that two connections
    happen to have different sessions proves nothing.
    """
    number = secrets.randbits(31)
    await first.execute("SELECT pg_advisory_lock_shared(%s::integer, %s::integer)", (_TRIAL, number))
    if not await _one(second, _HELD_QUERY, (_TRIAL, number)):
        return False
    await first.close()
    deadline = time.monotonic() + patience
    while await _one(second, _HELD_QUERY, (_TRIAL, number)):
        if time.monotonic() > deadline:
            return False
        await asyncio.sleep(_LOOK_SECONDS)
    return True


async def _one(connection: AsyncConnection, query: str, values: Sequence[object] = ()) -> object:
    row = await (await connection.execute(query.encode(), values)).fetchone()
    return row[0] if row else None
