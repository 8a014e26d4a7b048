"""Which service tokens were used, for all replicas of an agent."""

from __future__ import annotations

from uuid import uuid4

from utils.persistence.postgres.pool import PostgresPool

_USE = """
INSERT INTO used_tokens (id, use, until) VALUES (%s, %s, to_timestamp(%s))
ON CONFLICT (id) DO UPDATE SET use = used_tokens.use WHERE used_tokens.use = excluded.use
"""
_DELETE = "DELETE FROM used_tokens WHERE until < to_timestamp(%s)"

TIDY_SECONDS = 60.0
"""Time between two deletions of ids whose tokens have ended."""


class PostgresUsedTokens:
    """The table `used_tokens` of an agent's schema."""

    def __init__(self, pool: PostgresPool) -> None:
        self._pool = pool
        self._tidied = 0.0

    async def use(self, number: str, until: float, now: float) -> bool:
        """Note that a token is used; see `UsedTokens`."""
        if now - self._tidied >= TIDY_SECONDS:
            self._tidied = now
            await self._pool.execute(_DELETE, (now,))
        # the statement is run again where its answer was lost: it is the same use then
        return await self._pool.execute(_USE, (number, str(uuid4()), until)) > 0
