"""Opens the database of an agent's process if DATABASE_URL is set. Imports the driver only then."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from utils.persistence.postgres.startup import NO_DRIVER, unusable
from utils.persistence.settings import DatabaseSettings, Migrate

if TYPE_CHECKING:
    from utils.persistence.postgres.pool import PostgresPool
    from utils.persistence.postgres.versions import Further


def make_pool(settings: DatabaseSettings, agent: str) -> PostgresPool:
    """The connections of an agent, not open.

    Raises:
        SettingsError: The driver is not installed.
    """
    try:
        from utils.persistence.postgres.pool import PostgresPool
    except ImportError as error:
        raise unusable(NO_DRIVER) from error
    return PostgresPool(settings, agent=agent)


async def open_database(
    settings: DatabaseSettings,
    agent: str,
    stack: AsyncExitStack,
    *,
    alone: bool,
    on_lost: Callable[[str], object],
    further: Sequence[Further] = (),
) -> PostgresPool | None:
    """The database with the tables of an agent, closed with `stack`; `None` if DATABASE_URL is not set.

    Args:
        settings: The address and the limits.
        agent: Registered name of the agent.
        stack: What closes it.
        alone: Whether no other process may work on the agent's tables.
        on_lost: Called with the reason where another process does all the same, since the database was away for a while, or
            where a backup was restored meanwhile.
        further: Other tables that the agent needs.

    Raises:
        SettingsError: It cannot be used: unreachable, too old, with tables of another version, or in use.
        StorageError: It failed.
    """
    if settings.url is None:
        return None
    pool = make_pool(settings, agent)
    await pool.open()
    stack.push_async_callback(pool.close)
    if alone:
        from utils.persistence.postgres.alone import only_process_on

        await stack.enter_async_context(only_process_on(pool, on_lost))
    await _bring_up_to_date(pool, settings, agent, further)
    from utils.persistence.postgres.restored import halt_restored_turns, same_tables

    pool.check = same_tables(await halt_restored_turns(pool), on_lost)
    return pool


async def _bring_up_to_date(
    pool: PostgresPool, settings: DatabaseSettings, agent: str, further: Sequence[Further]
) -> None:
    from utils.persistence.postgres.versions import check_version, version_of

    version = await version_of(pool, further)
    if settings.migrate is Migrate.START and not version.current and not version.newer:
        from utils.persistence.postgres.migrate import upgrade

        version = await upgrade(pool, agent, further)
    check_version(version, agent)
