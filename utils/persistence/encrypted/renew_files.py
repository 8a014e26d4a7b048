"""Encrypts what the files of an agent's folder hold anew, while no other process uses them."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from utils.encryption.codec import Codec
from utils.persistence.database import connect
from utils.persistence.database_failures import failed
from utils.persistence.encrypted.columns import COLUMNS, Column
from utils.persistence.encrypted.tally import BATCH, Batch, Tally, batch_of, moved, selected


def renew_files(folder: Path, codec: Codec, tally: Tally) -> None:
    """Encrypt all that is not encrypted by the first key for its place, and rewrite the files so that nothing else is left in them.

    It goes on where an earlier run was stopped: what that one stored is as it should be.

    Raises:
        StorageError: A file cannot be read or written.
    """
    there = [column for column in COLUMNS if column.file and (folder / column.file).exists()]
    for column in there:
        tally.total += _each(folder, column, _count)
    for column in there:
        after: tuple[Any, ...] | None = ()
        while after is not None and not tally.stopped.is_set():
            batch, after = _each(folder, column, lambda db, it, last=after: _next(db, it, codec, last))
            tally.add(batch)
    for name in dict.fromkeys(column.file for column in there):
        if not tally.stopped.is_set():
            rewrite(folder / name)


def rewrite(file: Path) -> None:
    """Leave nothing in a file and its write-ahead log but what the rows hold.

    Raises:
        StorageError: SQLite failed.
    """
    try:
        with closing(connect(file)) as db:
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            db.execute("VACUUM")
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    except sqlite3.Error as error:
        raise failed(file, error) from error


def _each(folder: Path, column: Column, work: Any) -> Any:
    file = folder / column.file
    try:
        with closing(connect(file)) as db:
            return work(db, column)
    except sqlite3.Error as error:
        raise failed(file, error) from error


def _count(db: sqlite3.Connection, column: Column) -> int:
    query = f"SELECT count(*) FROM {column.table} WHERE {column.values[-1]} IS NOT NULL"  # noqa: S608 - our own names
    return int(db.execute(query).fetchone()[0]) if is_there(db, column) else 0


def is_there(db: sqlite3.Connection, column: Column) -> bool:
    """Whether a file has the table of a column."""
    query = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?"
    return db.execute(query, (column.table,)).fetchone() is not None


def _next(
    db: sqlite3.Connection, column: Column, codec: Codec, after: tuple[Any, ...]
) -> tuple[Batch, tuple[Any, ...] | None]:
    """Encrypt the next rows behind a key; with the last key, or `None` where no more come."""
    if not is_there(db, column):
        return Batch(0, (), ()), None
    keys = ", ".join(column.key)
    behind = f" AND ({keys}) > ({', '.join('?' * len(after))})" if after else ""
    where = f"{column.values[-1]} IS NOT NULL{behind} ORDER BY {keys} LIMIT {BATCH}"
    rows = db.execute(_select(column, where), after).fetchall()
    batch = batch_of(codec, column, rows, {})
    db.execute("BEGIN IMMEDIATE")
    store(db, column, batch)
    db.execute("COMMIT")
    return batch, tuple(rows[-1][: len(column.key)]) if len(rows) == BATCH else None


def move(
    db: sqlite3.Connection, column: Column, codec: Codec, where: Mapping[str, str], to: Mapping[str, str]
) -> None:
    """Encrypt the values of rows whose keys are about to change for the places that they have then.

    Raises:
        StorageError: One cannot be read.
    """
    if not is_there(db, column):
        return
    condition = " AND ".join(f"{name} = ?" for name in where)
    rows = db.execute(
        _select(column, f"{column.values[-1]} IS NOT NULL AND {condition}"), tuple(where.values())
    )
    store(db, column, moved(codec, column, rows.fetchall(), to))


def _select(column: Column, where: str) -> str:
    return f"SELECT {selected(column)} FROM {column.table} WHERE {where}"  # noqa: S608 - our own names


def store(db: sqlite3.Connection, column: Column, batch: Batch) -> None:
    """Store a batch, but for rows that have changed since they were read."""
    changes: Sequence[tuple[Any, ...]] = [(*new, *key, *old) for key, old, new in batch.changes]
    setting = ", ".join(f"{name} = ?" for name in column.values)
    where = " AND ".join(f"{name} IS ?" for name in (*column.key, *column.values))
    db.executemany(f"UPDATE {column.table} SET {setting} WHERE {where}", changes)  # noqa: S608 - our own names
