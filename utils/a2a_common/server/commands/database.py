"""Looks after the tables of one agent at DATABASE_URL, without serving it."""

from __future__ import annotations

import json
import sys
from enum import StrEnum
from typing import TYPE_CHECKING

from utils.errors import SettingsError
from utils.persistence.postgres.opening import make_pool
from utils.persistence.settings import DatabaseSettings

if TYPE_CHECKING:
    from pathlib import Path

    from utils.persistence.postgres.pool import PostgresPool
    from utils.persistence.postgres.versions import Further


class Verb(StrEnum):
    """The action of the command."""

    UPGRADE = "upgrade"
    STATUS = "status"


NOT_SET = "DATABASE_URL is not set: this agent stores its data in files, which need no upgrade."


def further_tables(own: Path | None = None) -> tuple[Further, ...]:
    """Tables that an agent needs besides those of its stores and its conversations.

    Args:
        own: Folder with the migrations of the agent's own tables, `BaseLangGraphAgent.own_tables`.
    """
    from utils.persistence.postgres.versions import Further

    queue = Further("procrastinate_jobs", _apply_queue)
    if own is None:
        return (queue,)
    from utils.persistence.postgres.own_tables import own_tables

    return queue, own_tables(own)


async def _apply_queue(pool: PostgresPool) -> None:
    from utils.a2a_common.engine.procrastinate_queue import apply_schema

    await apply_schema(pool)


async def tend_database(agent: str, settings: DatabaseSettings, verb: Verb, own: Path | None = None) -> None:
    """Upgrade the tables of an agent, or only look at them; print what they are then as one line of JSON.

    `own` is the folder with the migrations of the agent's own tables.

    Raises:
        SettingsError: No database is set, it cannot be used, or its tables are newer than this code.
        StorageError: It failed.
    """
    from utils.persistence.postgres.sizes import size_of
    from utils.persistence.postgres.versions import NEWER, version_of

    if settings.url is None:
        raise SettingsError("DATABASE_URL", NOT_SET)
    pool = make_pool(settings, agent)
    await pool.open()
    try:
        further = further_tables(own)
        if verb is Verb.UPGRADE:
            from utils.persistence.postgres.migrate import upgrade

            version = await upgrade(pool, agent, further)
        else:
            version = await version_of(pool, further)
            if version.newer:
                raise SettingsError("DATABASE_URL", NEWER.format(agent=agent))
        report = {
            "agent": agent,
            "version": version.tables,
            "current": version.current,
            "bytes": await size_of(pool),
        }
        sys.stdout.write(json.dumps(report) + "\n")
    finally:
        await pool.close()
