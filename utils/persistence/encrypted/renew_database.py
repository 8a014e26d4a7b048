"""Encrypts what an agent's schema holds anew, also while the agent runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from psycopg.types.json import Jsonb

from utils.persistence.encrypted.columns import COLUMNS, Column, Form
from utils.persistence.encrypted.tally import BATCH, Batch, Tally, batch_of, moved, selected
from utils.persistence.postgres.errors import storage_errors
from utils.persistence.postgres.own_schema import has_table

if TYPE_CHECKING:
    from utils.encryption.codec import Codec
    from utils.persistence.postgres.pool import Connection, PostgresPool


async def renew_database(pool: PostgresPool, codec: Codec, tally: Tally, *, rewrite: bool) -> None:
    """Encrypt all that is not encrypted by the first key for its place.

    It goes on where an earlier run was stopped. A row that a process of the agent changes meanwhile is that one's.

    Args:
        pool: The database.
        codec: The keys.
        tally: What is counted.
        rewrite: Whether the tables are rewritten then, so that nothing else is left in their files. Each is locked meanwhile.

    Raises:
        StorageError: The database failed.
    """
    there = [column for column in COLUMNS if column.shared and await has_table(pool, column.shared)]
    for column in there:
        query = f"SELECT count(*) FROM {column.shared} WHERE {column.values[-1]} IS NOT NULL"  # noqa: S608 - our own names
        row = await pool.one(query)
        tally.total += row[0] if row is not None else 0
    for column in there:
        if tally.stopped.is_set():
            return
        await _renew(pool, column, codec, tally)
    if rewrite:
        await _rewrite(pool, dict.fromkeys(column.shared for column in there))


async def _rewrite(pool: PostgresPool, tables: Iterable[str]) -> None:
    """Rewrite tables, which may take hours: on a connection of its own, which waits for as long as that takes."""
    connection = await pool.connect()
    try:
        with storage_errors():
            for name in tables:
                await connection.execute(f"VACUUM FULL {name}".encode())
    finally:
        await connection.close()


async def _renew(pool: PostgresPool, column: Column, codec: Codec, tally: Tally) -> None:
    keys = ", ".join(column.key)
    after: tuple[Any, ...] = ()
    while True:
        behind = f" AND ({keys}) > ({', '.join(['%s'] * len(after))})" if after else ""
        where = f"{column.values[-1]} IS NOT NULL{behind} ORDER BY {keys} LIMIT {BATCH}"

        async def work(
            db: Connection, where: str = where, after: tuple[Any, ...] = after
        ) -> tuple[Batch, list[Any]]:
            rows = await (await db.execute(_select(column, where), after)).fetchall()
            batch = batch_of(codec, column, rows, {})
            await _store(db, column, batch)
            return batch, rows

        batch, rows = await pool.run(work)
        tally.add(batch)
        if len(rows) < BATCH or tally.stopped.is_set():
            return
        after = tuple(rows[-1][: len(column.key)])


async def move(
    db: Connection, column: Column, codec: Codec, where: Mapping[str, str], to: Mapping[str, str]
) -> None:
    """Encrypt the values of rows whose keys are about to change for the places that they have then.

    Raises:
        StorageError: One cannot be read.
    """
    condition = " AND ".join(f"{name} = %s" for name in where)
    query = _select(column, f"{column.values[-1]} IS NOT NULL AND {condition}")
    rows = await (await db.execute(query, tuple(where.values()))).fetchall()
    await _store(db, column, moved(codec, column, rows, to))


def _select(column: Column, where: str) -> bytes:
    return f"SELECT {selected(column)} FROM {column.shared} WHERE {where}".encode()  # noqa: S608 - our own names


async def _store(db: Connection, column: Column, batch: Batch) -> None:
    setting = ", ".join(f"{name} = %s" for name in column.values)
    held = [f"{name} IS NOT DISTINCT FROM %s" for name in column.values]
    where = " AND ".join([*(f"{name} = %s" for name in column.key), *held])
    update = f"UPDATE {column.shared} SET {setting} WHERE {where}".encode()  # noqa: S608 - our own names
    for key, old, new in batch.changes:
        await db.execute(update, (*_given(column, new), *key, *_given(column, old)))


def _given(column: Column, values: Sequence[Any]) -> Sequence[Any]:
    return [Jsonb(value) for value in values] if column.form is Form.CHANNELS else values
