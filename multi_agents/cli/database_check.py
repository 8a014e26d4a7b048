"""What `doctor` says of the database: whether it can be used, and how much room each agent's tables take."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from multi_agents.cli.model.finding import Finding
from utils.errors import PlatformError
from utils.persistence.settings import DatabaseSettings

_MEGABYTE = 1_000_000


async def check_database(environ: Mapping[str, str]) -> list[Finding]:
    """The database that the settings name; nothing where they name none."""
    settings = DatabaseSettings.load(environ)
    if settings.url is None:
        return []
    try:
        return list(_findings(await _sizes(settings)))
    except PlatformError as error:
        return [Finding("database", "wrong", error.message)]


async def _sizes(settings: DatabaseSettings) -> dict[str, int]:
    from utils.persistence.postgres.opening import make_pool
    from utils.persistence.postgres.sizes import all_sizes

    pool = make_pool(settings, "doctor")
    await pool.open()
    try:
        return await all_sizes(pool)
    finally:
        await pool.close()


def _findings(sizes: Mapping[str, int]) -> Iterator[Finding]:
    told = ", ".join(f"{schema} {size / _MEGABYTE:.1f} MB" for schema, size in sizes.items())
    yield Finding("database", "ok", f"PostgreSQL can be used; {told or 'no tables yet'}")
