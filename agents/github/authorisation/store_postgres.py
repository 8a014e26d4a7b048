"""Stores what users have authorised in PostgreSQL."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agents.github.authorisation.grant import Cipher, Grant, SignIn

if TYPE_CHECKING:
    from utils.persistence.postgres.pool import PostgresPool

_GRANT = "SELECT body FROM github_authorisations WHERE owner = %s"
_KEEP = """
INSERT INTO github_authorisations (owner, body) VALUES (%s, %s)
ON CONFLICT (owner) DO UPDATE SET body = excluded.body
"""
_FORGET = "DELETE FROM github_authorisations WHERE owner = %s RETURNING owner"
_SIGN_IN = "SELECT thread_id, asked, body FROM github_sign_ins WHERE call = %s"
_PUT = """
INSERT INTO github_sign_ins (call, thread_id, asked, body) VALUES (%s, %s, %s, %s)
ON CONFLICT (call) DO UPDATE SET asked = excluded.asked, body = excluded.body
"""
_DELETE = "DELETE FROM github_sign_ins WHERE thread_id = %s"


class PostgresGrants:
    """The tables `github_authorisations` and `github_sign_ins` of an agent's schema.

    Args:
        pool: The connections.
        cipher: Encrypts what is stored; the same keys on all replicas.
    """

    def __init__(self, pool: PostgresPool, cipher: Cipher) -> None:
        self._pool = pool
        self._cipher = cipher

    async def open(self) -> None:
        """Nothing to open: the pool is the process's."""

    async def close(self) -> None:
        """Nothing to close."""

    async def grant(self, owner: str) -> Grant | None:
        """What a user has authorised."""
        row = await self._pool.one(_GRANT, (owner,))
        return None if row is None else self._cipher.read_grant(owner, bytes(row[0]))

    async def keep(self, owner: str, grant: Grant) -> None:
        """Store what a user has authorised."""
        await self._pool.execute(_KEEP, (owner, self._cipher.grant(owner, grant)))

    async def forget(self, owner: str) -> bool:
        """Delete what a user has authorised; whether there was something."""
        return await self._pool.one(_FORGET, (owner,)) is not None

    async def sign_in(self, call: str) -> SignIn | None:
        """The sign-in of a tool call."""
        row = await self._pool.one(_SIGN_IN, (call,))
        if row is None:
            return None
        return SignIn(call, str(row[0]), int(row[1]), self._cipher.read_code(call, bytes(row[2])))

    async def put(self, sign_in: SignIn) -> None:
        """Store the sign-in of a tool call."""
        body = self._cipher.code(sign_in.call, sign_in.code)
        await self._pool.execute(_PUT, (sign_in.call, sign_in.thread_id, sign_in.asked, body))

    async def delete(self, thread_id: str) -> None:
        """Delete the sign-ins of a conversation."""
        await self._pool.execute(_DELETE, (thread_id,))
