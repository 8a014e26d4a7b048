"""Commands that change stored conversations directly, beside processes that keep some of them at rest, as to delete them.

A command locks the table of turns, and leaves the conversations that somebody keeps at rest then. Whoever wants to keep one at
rest takes its lock and waits for the commands: each sees what the other did, or does not begin.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from utils.persistence.postgres.names import rest_lock
from utils.persistence.runs import conversation_key

if TYPE_CHECKING:
    from utils.persistence.owned_tables import TaskKey
    from utils.persistence.postgres.pool import Connection, PostgresPool

_COMMAND = b"LOCK TABLE runs IN EXCLUSIVE MODE"
_WAIT = b"LOCK TABLE runs IN ROW SHARE MODE"
_HELD = b"""
SELECT (classid::bigint << 32) | objid::bigint FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 1
AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
"""


async def keep_turns_out(db: Connection) -> None:
    """Let no turn begin, and no conversation be brought to rest, until the transaction ends."""
    await db.execute(_COMMAND)


async def at_rest(db: Connection, schema: str, tasks: Iterable[TaskKey]) -> set[str]:
    """Those of `tasks` whose conversation somebody keeps at rest. Only after `keep_turns_out`."""
    held = {number for (number,) in await (await db.execute(_HELD)).fetchall()}
    if not held:
        return set()
    return {
        task for task, context, owner in tasks if rest_lock(schema, conversation_key(owner, context)) in held
    }


@asynccontextmanager
async def held_if_free(pool: PostgresPool, number: int) -> AsyncIterator[bool]:
    """Hold the lock of a conversation at rest outside a transaction, which the server would end when idle; wait for commands.

    Raises:
        StorageError: The database failed, or a command takes long.
    """
    async with pool.locks.held_if_free(number) as free:
        if free:
            await _commands_ended(pool)
        yield free


async def _commands_ended(pool: PostgresPool) -> None:
    """Wait until no command changes conversations.

    Raises:
        StorageError: One takes long, or the database failed.
    """
    async with pool.transaction() as db:
        await db.execute(_WAIT)
