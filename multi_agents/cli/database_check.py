"""`doctor`'s check of the database: whether it can be used, and the size of each agent's tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from multi_agents.cli.model.finding import Finding, Level
from utils.errors import PlatformError
from utils.persistence.out_of_sight import notice_for
from utils.persistence.settings import DatabaseSettings, Migrate

NO_RIGHT = (
    "The user in DATABASE_URL may not create the tables of the agents: give it the right to create schemas (GRANT CREATE ON "
    "DATABASE), or have its owner run `platform-engineer db upgrade`."
)

_MEGABYTE = 1_000_000


async def check_database(environ: Mapping[str, str]) -> list[Finding]:
    """The database in the settings, if there is one."""
    settings = DatabaseSettings.load(environ)
    if settings.url is None:
        return []
    try:
        sizes, may_create = await _looked_at(settings)
    except PlatformError as error:
        return [Finding("database", Level.WRONG, error.message)]
    if not sizes and not may_create and settings.migrate is Migrate.START:
        return [Finding("database", Level.WRONG, NO_RIGHT)]
    return list(_findings(sizes))


def check_out_of_sight(environ: Mapping[str, str], home: Path) -> Iterator[Finding]:
    """Whether conversations are in files that no agent shows, since all of them store in a database."""
    if told := notice_for(DatabaseSettings.load(environ), home):
        yield Finding("data", Level.NOTE, told)


async def _looked_at(settings: DatabaseSettings) -> tuple[dict[str, int], bool]:
    """The size of each agent's tables, and whether a start could create some."""
    from utils.persistence.postgres.opening import make_pool
    from utils.persistence.postgres.sizes import all_sizes

    pool = make_pool(settings, "doctor")
    await pool.open()
    try:
        row = await pool.one("SELECT has_database_privilege(current_database(), 'CREATE')")
        return await all_sizes(pool), bool(row and row[0])
    finally:
        await pool.close()


def _findings(sizes: Mapping[str, int]) -> Iterator[Finding]:
    told = ", ".join(f"{schema} {size / _MEGABYTE:.1f} MB" for schema, size in sizes.items())
    yield Finding("database", Level.OK, f"PostgreSQL can be used; {told or 'no tables yet'}")
