"""Tables that one agent needs for itself: SQL files of its package, `NUMBER_name.sql`, each run once, in order."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from utils.persistence.postgres.errors import storage_errors
from utils.persistence.postgres.versions import Further

if TYPE_CHECKING:
    from utils.persistence.postgres.pool import Connection, PostgresPool

VERSION_TABLE = "own_version"

_FILE = re.compile(r"(\d{4})_\w+\.sql")


def own_tables(folder: Path) -> Further:
    """The tables of the files in a folder, for `upgrade` and for the check at the start.

    A file creates them in the agent's schema, which is where unqualified names lead. It runs in one transaction with the
    record of its version. Never change one that was released: the next number holds the next change, which the version of
    the code before must be able to work with.

    Raises:
        ValueError: The folder has no migration, or a file that is none.
    """
    files = sorted(folder.glob("*.sql"))
    found = [_FILE.fullmatch(path.name) for path in files]
    if not files or None in found:
        raise ValueError(f"{folder.name}: migrations are named 0001_name.sql")
    versions = [match[1] for match in found if match]
    if len(set(versions)) < len(versions):
        raise ValueError(f"{folder.name}: two migrations have the same number")

    async def apply(pool: PostgresPool) -> None:
        connection = await pool.connect(
            wait_seconds=0
        )  # a table that is rewritten or an index takes as long as it takes
        try:
            for version, path in zip(versions, files, strict=True):
                with storage_errors():
                    async with connection.transaction():
                        await _apply(connection, version, path.read_text(encoding="utf-8"))
        finally:
            await connection.close()

    return Further(VERSION_TABLE, apply, versions[-1])


async def _apply(connection: Connection, version: str, statements: str) -> None:
    """Run one file, unless it was run."""
    await connection.execute(f"CREATE TABLE IF NOT EXISTS {VERSION_TABLE} (version_num TEXT PRIMARY KEY)")
    added = await connection.execute(
        f"INSERT INTO {VERSION_TABLE} VALUES (%s) ON CONFLICT DO NOTHING",  # noqa: S608 - a constant
        (version,),
    )
    if added.rowcount:
        await connection.execute(statements.encode())
