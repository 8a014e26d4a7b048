"""Stores what users have authorised, encrypted, and the sign-ins that tool calls wait for."""

from __future__ import annotations

import sqlite3
from typing import Any, Protocol

from agents.github.authorisation.grant import Cipher, Grant, SignIn
from utils.persistence.database import Database
from utils.persistence.sqlite_file import SqliteFile

_SCHEMA = """
CREATE TABLE IF NOT EXISTS authorisations (
    owner TEXT PRIMARY KEY,
    body BLOB NOT NULL
);
CREATE TABLE IF NOT EXISTS sign_ins (
    call TEXT PRIMARY KEY,
    thread_id TEXT NOT NULL,
    asked INTEGER NOT NULL,
    body BLOB NOT NULL
);
CREATE INDEX IF NOT EXISTS sign_ins_by_thread ON sign_ins (thread_id);
PRAGMA secure_delete=ON;
"""


class Grants(Protocol):
    """The store."""

    async def open(self) -> None:
        """Open it. Safe to call twice."""

    async def close(self) -> None:
        """Close it. Safe to call twice."""

    async def grant(self, owner: str) -> Grant | None:
        """What a user has authorised.

        Raises:
            Unreadable: No key reads it any more.
        """

    async def keep(self, owner: str, grant: Grant) -> None:
        """Store what a user has authorised."""

    async def forget(self, owner: str) -> bool:
        """Delete what a user has authorised; whether there was something."""

    async def sign_in(self, call: str) -> SignIn | None:
        """The sign-in of a tool call.

        Raises:
            Unreadable: No key reads it any more.
        """

    async def put(self, sign_in: SignIn) -> None:
        """Store the sign-in of a tool call."""

    async def delete(self, thread_id: str) -> None:
        """Delete the sign-ins of a conversation. What the user has authorised stays: it is not the conversation's."""


class FileGrants:
    """The store in a SQLite file.

    Args:
        path: The file.
        cipher: Encrypts what is stored.
    """

    def __init__(self, path: SqliteFile, cipher: Cipher) -> None:
        self._database = Database(path, _SCHEMA)
        self._cipher = cipher

    async def open(self) -> None:
        """Open the file, created when missing.

        Raises:
            StorageError: The file cannot be opened.
        """
        await self._database.open()

    async def close(self) -> None:
        """Close the file."""
        await self._database.close()

    async def grant(self, owner: str) -> Grant | None:
        """What a user has authorised."""
        row = await self._row("SELECT body FROM authorisations WHERE owner = ?", owner)
        return None if row is None else self._cipher.read_grant(owner, row[0])

    async def keep(self, owner: str, grant: Grant) -> None:
        """Store what a user has authorised."""
        await self._write(
            "INSERT OR REPLACE INTO authorisations VALUES (?, ?)", owner, self._cipher.grant(owner, grant)
        )

    async def forget(self, owner: str) -> bool:
        """Delete what a user has authorised; whether there was something."""
        return await self._write("DELETE FROM authorisations WHERE owner = ?", owner) > 0

    async def sign_in(self, call: str) -> SignIn | None:
        """The sign-in of a tool call."""
        row = await self._row("SELECT thread_id, asked, body FROM sign_ins WHERE call = ?", call)
        return None if row is None else SignIn(call, row[0], row[1], self._cipher.read_code(call, row[2]))

    async def put(self, sign_in: SignIn) -> None:
        """Store the sign-in of a tool call."""
        body = self._cipher.code(sign_in.call, sign_in.code)
        sql = "INSERT OR REPLACE INTO sign_ins VALUES (?, ?, ?, ?)"
        await self._write(sql, sign_in.call, sign_in.thread_id, sign_in.asked, body)

    async def delete(self, thread_id: str) -> None:
        """Delete the sign-ins of a conversation."""
        await self._write("DELETE FROM sign_ins WHERE thread_id = ?", thread_id)

    async def _row(self, sql: str, *values: str) -> Any:
        await self._database.open()
        return await self._database.read(lambda connection: connection.execute(sql, values).fetchone())

    async def _write(self, sql: str, *values: str | int | bytes) -> int:
        def write(connection: sqlite3.Connection) -> int:
            return connection.execute(sql, values).rowcount

        await self._database.open()
        return await self._database.write(write)
