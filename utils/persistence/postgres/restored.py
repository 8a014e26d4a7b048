"""Notices that an agent's tables are others than at its last start: a backup was restored into them, or they are a copy.

What the turns in it did after the backup was made is not known, so they must not go on. A question that was open may have been
answered after the backup, so it must not be answered again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import psycopg
import structlog
from psycopg.rows import tuple_row

from utils.errors import StorageError
from utils.persistence.encrypted.columns import COLUMNS
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
_KEYED = """
SELECT coalesce(array_agg(relname::text), '{}') FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
WHERE nspname = current_schema() AND relkind = 'r'
AND EXISTS (SELECT FROM pg_index WHERE indrelid = pg_class.oid AND indisprimary)
"""
"""The tables with a primary key. A restore makes it after the rows of the table: with several jobs (`pg_restore -j`) not after those of others."""
_WHOLE = f"""
SELECT NOT EXISTS (SELECT FROM pg_tables WHERE schemaname = current_schema() AND tablename = ANY(%s)
AND tablename <> ALL(({_KEYED})::text[]))
"""  # noqa: S608 - a constant
"""Whether all rows of the tables are restored of which it is known that they have a primary key."""
_KNOWN = ["secrets", *sorted({column.shared for column in COLUMNS if column.shared})]
"""Tables whose primary keys are known at a start: those with text of users, and the one whose number is looked at."""

RESTORING = "The tables at DATABASE_URL are incomplete, as while a backup is restored. Start again when the restore has ended."
REPLACED = "The database was replaced by a backup while this process ran. Its next start ends what was under way in the backup."

_FIRST = "INSERT INTO secrets (name, value) VALUES (%s, %s) ON CONFLICT (name) DO NOTHING"
_LAST = "SELECT value FROM secrets WHERE name = %s FOR UPDATE"
_KEEP = "UPDATE secrets SET value = %s WHERE name = %s"
_HALT = "UPDATE runs SET attempts = %s"
_CLOSE = """
INSERT INTO runs (task_id, conversation, owner, body, writer, attempts)
SELECT id, context_id, owner, %s, 0, %s FROM tasks WHERE state = ANY(%s) ON CONFLICT (task_id) DO NOTHING
"""
_ASKED = [int(state) for state in sorted(INTERRUPTED)]


class Tables(NamedTuple):
    """What tells an agent's tables from restored ones.

    Attributes:
        numbers: Those of the database, the server and a table.
        keyed: Names of the tables with a primary key.
    """

    numbers: list[str]
    keyed: list[str]


async def halt_restored_turns(pool: PostgresPool) -> Tables:
    """Mark the turns and the open questions of a restored backup, so that the engine ends their tasks. Turns of a later time go on.

    Raises:
        StorageError: A backup is being restored, so that what is still to come would not be marked; or the database failed.
    """

    async def work(db: Connection) -> tuple[int | None, Tables]:
        if not await _are_whole(db, _KNOWN):
            raise StorageError(for_operator=RESTORING)
        now = await _numbers(db)
        await db.execute(_FIRST, (PLACE, _stored(now)))
        (last,) = await _row(db, _LAST, PLACE)
        before = bytes(last).decode().split("/")
        moved = _differ(before, now)
        if not moved:
            now = [number or known for number, known in zip(now, [*before, "", ""], strict=False)]
        await db.execute(_KEEP, (_stored(now), PLACE))
        (keyed,) = await _row(db, _KEYED)
        return await _halt(db) if moved else None, Tables(now, keyed)

    halted, tables = await pool.run(work)
    if halted is not None:
        log.warning("database.restored", turns=halted)
    return tables


def same_tables(tables: Tables, on_replaced: Callable[[str], object]) -> Check:
    """A check that no connection leads to other tables than those of the start, as of a backup that was restored meanwhile.

    Of a connection that was checked before, only the table is looked at: its database and server stay the same.

    Args:
        tables: What tells those of the start from others.
        on_replaced: Called with the reason when others are there, as a whole: the process must start anew.
    """
    told = False

    async def check(db: Connection, new: bool) -> None:
        nonlocal told
        now = await _numbers(db) if new else ["", "", *await _row(db, _TABLE)]
        if not _differ(tables.numbers, now):
            return
        if not told and await _are_whole(db, tables.keyed):
            told = True
            log.error("database.replaced", effect="this process stops")
            on_replaced(REPLACED)
        raise psycopg.OperationalError("The tables are not those of the start.")

    return check


async def _halt(db: Connection) -> int:
    """Mark what was under way; return how many tasks that are."""
    turns = await db.execute(_HALT, (RESTORED,))
    questions = await db.execute(_CLOSE, (QUESTION, RESTORED, _ASKED))
    return turns.rowcount + questions.rowcount


async def _are_whole(db: Connection, tables: Sequence[str]) -> bool:
    (whole,) = await _row(db, _WHOLE, tables)
    return bool(whole)


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
