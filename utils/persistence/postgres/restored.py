"""Notices that an agent's tables stand in another database than at its last start: a backup was restored into it, or it is a copy.

What the turns in it did after the backup was made is not known, so they must not go on.
"""

from __future__ import annotations

from typing import Any

import structlog

from utils.persistence.postgres.pool import Connection, PostgresPool
from utils.persistence.runs import RESTORED

log = structlog.get_logger(__name__)

PLACE = "database.place"
"""Name of the row of `secrets` with the database of the last start."""

_DATABASE = "SELECT oid FROM pg_database WHERE datname = current_database()"
_MAY_ASK = "SELECT has_function_privilege('pg_control_system()', 'execute')"
_SERVER = "SELECT system_identifier FROM pg_control_system()"

_FIRST = "INSERT INTO secrets (name, value) VALUES (%s, %s) ON CONFLICT (name) DO NOTHING"
_MOVED = "UPDATE secrets SET value = %s WHERE name = %s AND value <> %s"
_HALT = "UPDATE runs SET attempts = %s"


async def halt_restored_turns(pool: PostgresPool) -> None:
    """Let the turns of a restored backup end, and not go on, in the process that takes them. Turns of a later time do go on.

    Raises:
        StorageError: The database failed.
    """

    async def work(db: Connection) -> int | None:
        place = await _place(db)
        await db.execute(_FIRST, (PLACE, place))
        moved = (await db.execute(_MOVED, (place, PLACE, place))).rowcount
        return (await db.execute(_HALT, (RESTORED,))).rowcount if moved else None

    halted = await pool.run(work)
    if halted is not None:
        log.warning("database.restored", turns=halted)


async def _place(db: Connection) -> bytes:
    """What tells this database from its copies: its number, and that of the server where the user may ask for it."""
    numbers = [await _value(db, _DATABASE)]
    if await _value(db, _MAY_ASK):
        numbers.append(await _value(db, _SERVER))
    return "/".join(map(str, numbers)).encode()


async def _value(db: Connection, query: str) -> Any:
    row = await (await db.execute(query.encode())).fetchone()
    return row[0] if row else None
