"""The last card of each sub-agent as text, in PostgreSQL."""

from __future__ import annotations

from typing import Any

from utils.persistence.postgres.pool import Connection, PostgresPool

_ALL = "SELECT url, card FROM agent_cards"
_PUT = (
    "INSERT INTO agent_cards (url, card) VALUES (%s, %s) ON CONFLICT (url) DO UPDATE SET card = excluded.card"
)


class PostgresAgentCards:
    """The table `agent_cards` of an agent's schema."""

    def __init__(self, pool: PostgresPool) -> None:
        self._pool = pool

    async def open(self) -> None:
        """Nothing to open: the pool is the process's."""

    async def close(self) -> None:
        """Nothing to close."""

    async def all(self) -> dict[str, str]:
        """Every stored card as JSON, by address."""

        async def read(db: Connection) -> dict[str, str]:
            rows: list[Any] = await (await db.execute(_ALL)).fetchall()
            return {str(url): bytes(card).decode("utf-8") for url, card in rows}

        return await self._pool.run(read)

    async def put(self, url: str, card: str) -> None:
        """Store the card that was read at an address."""
        await self._pool.execute(_PUT, (url, card.encode("utf-8", "replace")))
