"""Checks a database before its first use, so that a problem is reported in one sentence when the process starts.

No sentence quotes the address or the server's own words, which may hold a name or a password.
"""

from __future__ import annotations

import asyncio
import socket
from typing import TYPE_CHECKING

from utils.errors import SettingsError

if TYPE_CHECKING:
    from psycopg import AsyncConnection

OLDEST = 14
"""Oldest major version of PostgreSQL that this service is tested with and supported on."""

POSTGRES_PORT = 5432
"""Where PostgreSQL listens unless an address says otherwise."""

KNOCK_SECONDS = 2.0
"""Longest wait for the port of a server that did not let this process in."""

READ_ONLY_QUERY = "SELECT pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on'"

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
    "DATABASE_URL leads to a connection pooler in transaction mode, which loses locks and notifications. "
    "Use the address of PostgreSQL itself, or of a pooler in session mode."
)
READ_ONLY = (
    "The database at DATABASE_URL can only be read, as a standby is. Use the address of the primary server."
)


def unusable(reason: str) -> SettingsError:
    """The error that keeps a process from starting."""
    return SettingsError(VARIABLE, reason)


async def refusal(error: BaseException, conninfo: str) -> SettingsError:
    """Why the first connection failed. libpq tells no code of it, and its text is not looked at: the port is knocked at."""
    import psycopg

    if isinstance(error, psycopg.ProgrammingError):
        return unusable(UNREADABLE)
    place = _place(conninfo)
    if place is None:
        return unusable(UNREACHABLE)
    problem = await _knock(*place)
    late = isinstance(error, TimeoutError | psycopg.errors.ConnectionTimeout)
    return unusable(problem or (SLOW if late else REFUSED))


async def is_open(conninfo: str) -> bool:
    """Whether something listens at the address of a database; that of a socket of this machine, or of several hosts, counts as open."""
    place = _place(conninfo)
    return place is None or await _knock(*place) is None


def _place(conninfo: str) -> tuple[str, str] | None:
    """Host and port of an address; `None` for several of them, or a socket of this machine."""
    from psycopg.conninfo import conninfo_to_dict

    parts = conninfo_to_dict(conninfo)
    hosts = str(parts.get("hostaddr") or parts.get("host") or "").split(",")
    if len(hosts) != 1 or not hosts[0] or hosts[0].startswith(("/", "@")):
        return None
    return hosts[0], str(parts.get("port") or POSTGRES_PORT)


async def _knock(host: str, port: str) -> str | None:
    """Why a connection to a port fails; `None` if it succeeds."""
    try:
        async with asyncio.timeout(KNOCK_SECONDS):
            _, writer = await asyncio.open_connection(host, port)
    except socket.gaierror:
        return UNKNOWN_HOST
    except OSError:  # a TimeoutError is one too
        return SILENT
    writer.close()
    return None


async def check_server(first: AsyncConnection, second: AsyncConnection) -> None:
    """Check the version, and that each connection keeps its session.

    Raises:
        SettingsError: The server cannot be used; the message says why.
    """
    major = first.info.server_version // 10_000
    if major < OLDEST:
        raise unusable(TOO_OLD.format(found=major, oldest=OLDEST))
    if await _shares_sessions(first, second):
        raise unusable(POOLED)
    if await _one(first, READ_ONLY_QUERY):
        raise unusable(READ_ONLY)


async def _shares_sessions(first: AsyncConnection, second: AsyncConnection) -> bool:
    """Whether transactions of a connection move between sessions of the server.

    The second connection keeps a session busy between two transactions of the first.
    """
    pid = "SELECT pg_backend_pid()"
    before = await _one(first, pid)
    async with second.transaction():
        between = await _one(second, pid)
        after = await _one(first, pid)
    return before == between or before != after


async def _one(connection: AsyncConnection, query: str) -> object:
    row = await (await connection.execute(query)).fetchone()
    return row[0] if row else None
