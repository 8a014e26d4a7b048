"""Commands that change stored conversations directly, beside processes that hold the turns of some of them, as to delete them.

A command locks the table of turns, and leaves the conversations whose turns somebody holds then. Whoever wants to hold the turns
of one takes its lock and waits for the commands: each sees what the other did, or does not begin.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from utils.persistence.postgres.names import hold_lock
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


async def hold_all_turns(db: Connection) -> None:
    """Let no turn begin, and nobody hold the turns of a conversation, until the transaction ends."""
    await db.execute(_COMMAND)


async def held_tasks(db: Connection, schema: str, tasks: Iterable[TaskKey]) -> set[str]:
    """Those of `tasks` of whose conversation somebody holds the turns. Only after `hold_all_turns`."""
    held = {number for (number,) in await (await db.execute(_HELD)).fetchall()}
    if not held:
        return set()
    return {
        task for task, context, owner in tasks if hold_lock(schema, conversation_key(owner, context)) in held
    }


@asynccontextmanager
async def held_if_free(pool: PostgresPool, number: int) -> AsyncIterator[bool]:
    """Take the lock that holds a conversation's turns, outside a transaction, which the server would end when idle; wait for commands.

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
