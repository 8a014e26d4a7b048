"""Notices that an agent's tables are others than at its last start: a backup was restored into them, or they are a copy.

What the turns in it did after the backup was made is not known, so they must not go on. A question that was open may have been
answered after the backup, so it must not be answered again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import psycopg
import structlog
from psycopg.rows import tuple_row

from utils.persistence.postgres.pool import Check, Connection, PostgresPool
from utils.persistence.runs import QUESTION, RESTORED
from utils.persistence.task_states import INTERRUPTED

log = structlog.get_logger(__name__)

PLACE = "database.place"
"""Name of the row of `secrets` with the numbers of the last start, separated by slashes; one that was not known is empty."""

_NUMBERS = """
SELECT (SELECT oid::text FROM pg_database WHERE datname = current_database()), {}, 'secrets'::regclass::oid::text
"""
_MAY_ASK = "SELECT has_function_privilege('pg_control_system()', 'execute')"
_SERVER = "(SELECT system_identifier::text FROM pg_control_system())"
_UNKNOWN = "''"

_TABLE = "SELECT 'secrets'::regclass::oid::text"
_WHOLE = "SELECT EXISTS (SELECT FROM pg_index WHERE indrelid = 'secrets'::regclass AND indisprimary)"
"""Whether all rows are restored: keys of tables are made after the rows of all tables."""

_FIRST = "INSERT INTO secrets (name, value) VALUES (%s, %s) ON CONFLICT (name) DO NOTHING"
_LAST = "SELECT value FROM secrets WHERE name = %s FOR UPDATE"
_KEEP = "UPDATE secrets SET value = %s WHERE name = %s"
_HALT = "UPDATE runs SET attempts = %s"
_CLOSE = """
INSERT INTO runs (task_id, conversation, owner, body, writer, attempts)
SELECT id, context_id, owner, %s, 0, %s FROM tasks WHERE state = ANY(%s) ON CONFLICT (task_id) DO NOTHING
"""
_ASKED = [int(state) for state in sorted(INTERRUPTED)]


async def halt_restored_turns(pool: PostgresPool) -> list[str]:
    """Mark the turns and the open questions of a restored backup, so that the engine ends their tasks. Turns of a later time go on.

    Returns:
        What tells these tables from restored ones.

    Raises:
        StorageError: The database failed.
    """

    async def work(db: Connection) -> tuple[int | None, list[str]]:
        now = await _numbers(db)
        await db.execute(_FIRST, (PLACE, _stored(now)))
        (last,) = await _row(db, _LAST, PLACE)
        before = bytes(last).decode().split("/")
        moved = _differ(before, now)
        if not moved:
            now = [number or known for number, known in zip(now, [*before, "", ""], strict=False)]
        await db.execute(_KEEP, (_stored(now), PLACE))
        return await _halt(db) if moved else None, now

    halted, numbers = await pool.run(work)
    if halted is not None:
        log.warning("database.restored", turns=halted)
    return numbers


def same_tables(numbers: list[str], on_replaced: Callable[[], object]) -> Check:
    """A check that no connection leads to other tables than those of the start, as of a backup that was restored meanwhile.

    Of a connection that was checked before, only the table is looked at: its database and server stay the same.

    Args:
        numbers: What tells the tables of the start from others.
        on_replaced: Called when others are there, as a whole: the process must start anew.
    """
    told = False

    async def check(db: Connection, new: bool) -> None:
        nonlocal told
        now = await _numbers(db) if new else ["", "", *await _row(db, _TABLE)]
        if not _differ(numbers, now):
            return
        (whole,) = await _row(db, _WHOLE)
        if whole and not told:
            told = True
            log.error("database.replaced", effect="this process stops")
            on_replaced()
        raise psycopg.OperationalError("The tables are not those of the start.")

    return check


async def _halt(db: Connection) -> int:
    """Mark what was under way; return how many tasks that are."""
    turns = await db.execute(_HALT, (RESTORED,))
    questions = await db.execute(_CLOSE, (QUESTION, RESTORED, _ASKED))
    return turns.rowcount + questions.rowcount


def _differ(before: list[str], now: list[str]) -> bool:
    """Whether a number has changed. One that was not known at either time says nothing."""
    return any(last and number and last != number for last, number in zip(before, now, strict=False))


def _stored(numbers: list[str]) -> bytes:
    return "/".join(numbers).encode()


async def _numbers(db: Connection) -> list[str]:
    """What tells the tables from restored ones: the numbers of the database, the server and a table.

    A user who may not ask for that of the server does not know it.
    """
    (may_ask,) = await _row(db, _MAY_ASK)
    return list(await _row(db, _NUMBERS.format(_SERVER if may_ask else _UNKNOWN)))


async def _row(db: Connection, query: str, *values: object) -> tuple[Any, ...]:
    async with db.cursor(row_factory=tuple_row) as cursor:
        row = await (await cursor.execute(query.encode(), values)).fetchone()
    assert row is not None
    return row
