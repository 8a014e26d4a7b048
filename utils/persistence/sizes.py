"""How much an agent has stored, by kind: the files of its folder, or the tables of its schema."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from utils.persistence.postgres.pool import Connection, PostgresPool

_BESIDE = ("", "-wal")
"""A file of SQLite, and the log of what is not yet in it."""

_TABLES = """
SELECT relname, pg_total_relation_size(pg_class.oid)
FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
WHERE relkind = 'r' AND nspname = current_schema()
"""


def sizes_of_files(folder: Path) -> dict[str, int]:
    """Bytes by the stem of each SQLite file in a folder; empty if there is none."""
    return {path.stem: _bytes(path) for path in sorted(folder.glob("*.sqlite"))}


def _bytes(path: Path) -> int:
    total = 0
    for suffix in _BESIDE:
        try:
            total += path.with_name(path.name + suffix).stat().st_size
        except OSError:  # gone meanwhile, or there is no log
            continue
    return total


async def sizes_of_tables(pool: PostgresPool) -> dict[str, int]:
    """Bytes by table of the agent's schema, with its indexes.

    Raises:
        StorageError: The database cannot be asked.
    """

    async def read(connection: Connection) -> dict[str, int]:
        rows = await (await connection.execute(_TABLES)).fetchall()
        return {str(name): int(size) for name, size in rows}

    return await pool.run(read)


def in_words(size: int) -> str:
    """Bytes as a person reads them, in decimal units."""
    for unit, bytes_of_it in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if size >= bytes_of_it:
            return f"{size / bytes_of_it:,.1f} {unit}"
    return f"{size} bytes"


def summary_of(sizes: Mapping[str, int]) -> str:
    """The total, and the three largest kinds."""
    largest: Iterable[str] = sorted(sizes, key=lambda kind: -sizes[kind])[:3]
    parts = ", ".join(f"{kind} {in_words(sizes[kind])}" for kind in largest if sizes[kind])
    return in_words(sum(sizes.values())) + (f" ({parts})" if parts else "")
