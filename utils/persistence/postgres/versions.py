"""Which version the tables of an agent have, and which this code needs. Imports neither Alembic nor LangGraph's tables."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from utils.errors import SettingsError

if TYPE_CHECKING:
    from utils.persistence.postgres.pool import PostgresPool

VERSIONS = Path(__file__).parent / "migrations" / "versions"
"""A file per migration, `NUMBER_name.py`."""

VERSION_TABLE = "schema_version"

VARIABLE = "DATABASE_URL"

OUTDATED = (
    "The tables of the agent {agent} at DATABASE_URL are {state}. Run `platform-engineer db upgrade` once, "
    "or set DATABASE_MIGRATE=start."
)
NEWER = (
    "The tables of the agent {agent} at DATABASE_URL were upgraded by a later version of this service. "
    "Start that version, or set another DATABASE_URL."
)


@cache
def known_versions() -> tuple[str, ...]:
    """The versions that this code knows, oldest first."""
    return tuple(sorted(path.name.partition("_")[0] for path in VERSIONS.glob("[0-9]*_*.py")))


@dataclass(frozen=True, slots=True)
class Version:
    """How far the tables of one agent are.

    Attributes:
        tables: The version of this service's tables; empty where there are none.
        checkpoints: The number of LangGraph's last migration; -1 where there are none.
        missing: Tables of others that were asked for and are not there, or of an earlier version.
        ahead: Tables of others that a later version of the code wrote.
    """

    tables: str = ""
    checkpoints: int = -1
    missing: tuple[str, ...] = ()
    ahead: tuple[str, ...] = ()

    @property
    def newer(self) -> bool:
        """Whether a later version of the code wrote them."""
        return self.tables > known_versions()[-1] or bool(self.ahead)

    @property
    def current(self) -> bool:
        """Whether this code can work with them."""
        others = not self.missing and not self.ahead
        return self.tables == known_versions()[-1] and self.checkpoints >= 0 and others


@dataclass(frozen=True, slots=True)
class Further:
    """Tables in the agent's schema that other code defines.

    Attributes:
        table: One of them, which shows that they exist.
        apply: Creates or upgrades them; does nothing if they are up to date.
        version: The version that this code needs, if `table` lists the applied versions in its column `version_num`.
    """

    table: str
    apply: Callable[[PostgresPool], Awaitable[None]]
    version: str = ""


async def version_of(pool: PostgresPool, further: Sequence[Further] = ()) -> Version:
    """The version of the agent's tables.

    Raises:
        StorageError: The database failed.
    """
    from psycopg import sql

    async with pool.transaction() as connection:

        async def exists(table: str) -> bool:
            found = await connection.execute(
                "SELECT 1 FROM pg_tables WHERE schemaname = %s AND tablename = %s", (pool.schema, table)
            )
            return await found.fetchone() is not None

        async def newest(table: str, column: str) -> object:
            if not await exists(table):
                return None
            query = sql.SQL("SELECT max({}) FROM {}").format(
                sql.Identifier(column), sql.Identifier(pool.schema, table)
            )
            row = await (await connection.execute(query)).fetchone()
            return row[0] if row else None

        tables = await newest(VERSION_TABLE, "version_num")
        checkpoints = await newest("checkpoint_migrations", "v")
        versioned = {
            each: str(await newest(each.table, "version_num") or "") for each in further if each.version
        }
        missing = [each.table for each in further if not await exists(each.table)]
        missing += [each.table for each, found in versioned.items() if "" < found < each.version]
    return Version(
        tables=str(tables) if tables is not None else "",
        checkpoints=int(str(checkpoints)) if checkpoints is not None else -1,
        missing=tuple(missing),
        ahead=tuple(each.table for each, found in versioned.items() if found > each.version),
    )


def check_not_newer(version: Version, agent: str) -> None:
    """Check that no later version of this code has upgraded the tables.

    Raises:
        SettingsError: One has.
    """
    if version.newer:
        raise SettingsError(VARIABLE, NEWER.format(agent=agent))


def check_version(version: Version, agent: str) -> None:
    """Check that this code can work with the tables.

    Raises:
        SettingsError: They are missing, of an earlier version, or of a later one.
    """
    check_not_newer(version, agent)
    if not version.current:
        state = "of an earlier version" if version.tables else "not there yet"
        raise SettingsError(VARIABLE, OUTDATED.format(agent=agent, state=state))
