"""Brings the tables of an agent to the version of this code: its own by Alembic, the conversations' by LangGraph.

Import this module only where something is to be migrated: it imports SQLAlchemy and Alembic.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, cast

import psycopg
import sqlalchemy
import structlog
from alembic import command
from alembic.config import Config
from psycopg import sql

from utils.errors import SettingsError, StorageError
from utils.persistence.postgres.errors import storage_errors
from utils.persistence.postgres.names import lock_number
from utils.persistence.postgres.pool import PostgresPool
from utils.persistence.postgres.versions import (
    NEWER,
    VARIABLE,
    VERSIONS,
    Further,
    Version,
    version_of,
)

log = structlog.get_logger(__name__)

LOCK_SECONDS = 300.0
"""How long one migration waits for another one of the same database."""

_LOCK = lock_number("platform-engineer", "migrate")
_LOOK_SECONDS = 0.2

UPGRADING = (
    "Another process is still upgrading the database. Wait until it has finished (`platform-engineer db status`), "
    "then start again."
)


async def upgrade(pool: PostgresPool, agent: str, further: Sequence[Further] = ()) -> Version:
    """Create or upgrade the tables of an agent; one process of all at a time. Return their version.

    Raises:
        SettingsError: They are newer than this code, or the user may not create them.
        StorageError: The database failed. What was finished before stays, and the next try goes on from there.
    """
    async with _alone(pool):
        before = await version_of(pool, further)
        if before.newer:
            raise SettingsError(VARIABLE, NEWER.format(agent=agent))
        try:
            await _create_schema(pool)
            with storage_errors():
                await asyncio.to_thread(_run_alembic, pool)
            await _set_up_checkpoints(pool, agent)
            for each in further:
                await each.apply(pool)
        except StorageError as error:
            if isinstance(error.__cause__, psycopg.errors.InsufficientPrivilege):
                raise SettingsError(VARIABLE, _FORBIDDEN.format(agent=agent)) from error
            raise
        after = await version_of(pool, further)
    if after != before:
        log.info("database.upgraded", agent=agent, version=after.tables)
    return after


_FORBIDDEN = (
    "The user in DATABASE_URL may not create the tables of the agent {agent}: give it the right to create schemas "
    "(GRANT CREATE ON DATABASE), or have its owner run `platform-engineer db upgrade`."
)


@asynccontextmanager
async def _alone(pool: PostgresPool) -> AsyncIterator[None]:
    """Hold the lock of migrations, on a session of its own that ends with the block.

    It is tried again and again, and not waited for: a statement that waits would keep CREATE INDEX CONCURRENTLY of
    the one who holds the lock from ending.
    """
    clock = asyncio.get_running_loop().time
    deadline = clock() + LOCK_SECONDS
    connection = await pool.connect()
    try:
        while True:
            with storage_errors():
                found = await connection.execute("SELECT pg_try_advisory_lock(%s)", (_LOCK,))
                row = await found.fetchone()
            if row and row[0]:
                break
            if clock() > deadline:
                raise StorageError(UPGRADING)
            await asyncio.sleep(_LOOK_SECONDS)
        yield
    finally:
        await connection.close()


async def _create_schema(pool: PostgresPool) -> None:
    """Create the schema if it does not exist: a user without the right to create one may still use one."""
    async with pool.connection() as connection:
        found = await connection.execute("SELECT 1 FROM pg_namespace WHERE nspname = %s", (pool.schema,))
        if await found.fetchone() is None:
            await connection.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(pool.schema)))


def _run_alembic(pool: PostgresPool) -> None:
    """Run the missing migrations in one transaction."""
    config = Config()
    config.set_main_option("script_location", str(VERSIONS.parent))
    engine = sqlalchemy.create_engine(
        "postgresql+psycopg://", creator=lambda: _connection(pool), poolclass=sqlalchemy.pool.NullPool
    )
    try:
        with engine.connect() as connection:
            config.attributes |= {"connection": connection, "schema": pool.schema}
            command.upgrade(config, "head")
            connection.commit()
    except sqlalchemy.exc.DBAPIError as error:
        raise error.orig or error from error


def _connection(pool: PostgresPool) -> psycopg.Connection:
    """A connection that looks for tables in the agent's schema."""
    connection = psycopg.connect(pool.conninfo, autocommit=True)
    connection.execute(pool.session(wait_seconds=0))
    connection.autocommit = False
    return connection


async def _set_up_checkpoints(pool: PostgresPool, agent: str) -> None:
    """LangGraph's own migrations.

    Raises:
        SettingsError: A later version of LangGraph made them.
    """
    from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver

    if (await version_of(pool)).checkpoints >= len(AsyncPostgresSaver.MIGRATIONS):
        raise SettingsError(VARIABLE, NEWER.format(agent=agent))
    connection = await pool.connect(wait_seconds=0)  # an index is made while others write
    try:
        with storage_errors():
            await AsyncPostgresSaver(cast("Any", connection)).setup()
    finally:
        await connection.close()
