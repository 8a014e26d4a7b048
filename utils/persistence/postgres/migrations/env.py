"""Alembic runs this file for `alembic.command.upgrade`; `utils/persistence/postgres/migrate.py` hands it the connection."""

from __future__ import annotations

from alembic import context

from utils.persistence.postgres.versions import VERSION_TABLE

_given = context.config.attributes
context.configure(
    connection=_given["connection"], version_table=VERSION_TABLE, version_table_schema=_given["schema"]
)
with context.begin_transaction():
    context.run_migrations()
