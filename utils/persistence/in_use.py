"""How many bytes of each kind an agent's storage uses, without the free space of deleted rows."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from utils.persistence.postgres.pool import Connection, PostgresPool

KINDS: Mapping[str, tuple[str, ...]] = {
    "tasks": ("tasks", "task_events", "task_attempts"),
    "checkpoints": ("checkpoints", "checkpoint_blobs", "checkpoint_writes", "conversation_messages"),
    "artifacts": ("artifacts",),
    "tool_calls": ("tool_calls",),
    "memories": ("memories", "memory_sources"),
}
"""The kinds of data that grow with conversations: each is a SQLite file of that name, or these tables of PostgreSQL."""

_ROW_BYTES = 28
"""What PostgreSQL adds to each row."""

_TOTALS = """
SELECT relname, pg_total_relation_size(pg_class.oid)
FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
WHERE relkind = 'r' AND nspname = current_schema() AND relname = ANY(%s)
"""

_COLUMNS = """
SELECT attname FROM pg_attribute WHERE attrelid = to_regclass(quote_ident(%s)) AND attnum > 0 AND NOT attisdropped
"""


def used_by(connection: sqlite3.Connection) -> int:
    """Bytes of a SQLite database without its free pages."""
    pages, free, size = (
        connection.execute(f"PRAGMA {about}").fetchone()[0]
        for about in ("page_count", "freelist_count", "page_size")
    )
    return int((pages - free) * size)


def in_use_of_files(folder: Path, kinds: tuple[str, ...]) -> dict[str, int]:
    """Bytes in use in the SQLite file of each kind; 0 if it is missing or cannot be read now."""
    return {kind: _used_in(folder / f"{kind}.sqlite") for kind in kinds}


def _used_in(path: Path) -> int:
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            return used_by(connection)
    except sqlite3.Error:
        return 0


async def in_use_of_tables(pool: PostgresPool, limits: Mapping[str, int]) -> dict[str, int]:
    """Bytes of the rows of each kind that has a limit.

    Rows are read only if the tables with their indexes and free space exceed the limit; else the size of the tables is
    returned.

    Raises:
        StorageError: The database failed.
    """

    async def read(db: Connection) -> dict[str, int]:
        tables = [table for kind in limits for table in KINDS[kind]]
        rows: list[Any] = await (await db.execute(_TOTALS, (tables,))).fetchall()
        sizes = {str(name): int(size) for name, size in rows}
        found = {}
        for kind, limit in limits.items():
            there = [table for table in KINDS[kind] if table in sizes]
            total = sum(sizes[table] for table in there)
            found[kind] = total if total <= limit else sum([await _rows_of(db, table) for table in there])
        return found

    return await pool.run(read)


async def _rows_of(db: Connection, table: str) -> int:
    """Bytes of the rows of a table, as they are stored. Values that are stored out of line are not read."""
    from psycopg import sql

    columns: list[Any] = await (await db.execute(_COLUMNS, (table,))).fetchall()
    each = sql.SQL(" + ").join(
        sql.SQL("coalesce(pg_column_size({}), 0)").format(sql.Identifier(str(name))) for (name,) in columns
    )
    statement = sql.SQL("SELECT coalesce(sum({} + {}), 0)::bigint FROM {}")
    (size,) = await (
        await db.execute(statement.format(each, sql.Literal(_ROW_BYTES), sql.Identifier(table)))
    ).fetchone() or (0,)
    return int(size)
