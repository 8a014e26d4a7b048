"""Stores the last card of each sub-agent as text, so that a restarted process knows agents that are down."""

from __future__ import annotations

import sqlite3

from utils.persistence.database import Database
from utils.persistence.sqlite_file import SqliteFile

_SCHEMA = """
CREATE TABLE IF NOT EXISTS agent_cards (
    url TEXT NOT NULL PRIMARY KEY,
    card TEXT NOT NULL
) WITHOUT ROWID
"""


class AgentCards:
    """Cards by the address that they were read at, in a SQLite file. A stored card is a peer's data, as a fresh one is.

    Args:
        path: The file, created when missing.
    """

    def __init__(self, path: SqliteFile) -> None:
        self._database = Database(path, _SCHEMA)

    async def open(self) -> None:
        """Open the file.

        Raises:
            StorageError: It cannot be opened.
        """
        await self._database.open()

    async def close(self) -> None:
        """Close the file."""
        await self._database.close()

    async def all(self) -> dict[str, str]:
        """Every stored card as JSON, by address."""

        def read(connection: sqlite3.Connection) -> dict[str, str]:
            rows = connection.execute("SELECT url, card FROM agent_cards")
            return {str(url): str(card) for url, card in rows}

        return await self._database.read(read)

    async def put(self, url: str, card: str) -> None:
        """Store the card that was read at an address."""

        def write(connection: sqlite3.Connection) -> None:
            connection.execute(
                "INSERT INTO agent_cards VALUES (?, ?) ON CONFLICT DO UPDATE SET card = excluded.card",
                (url, card),
            )

        await self._database.write(write)
