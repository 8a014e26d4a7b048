"""Whose a conversation is, and what users have authorised at GitHub."""

from __future__ import annotations

from alembic import op

revision = "0002"
down_revision = "0001"

_TABLES = """
CREATE TABLE thread_people (
    thread_id TEXT COLLATE "C" NOT NULL,
    person TEXT COLLATE "C" NOT NULL,
    tenant TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (thread_id)
);
CREATE TABLE github_authorisations (
    owner TEXT COLLATE "C" NOT NULL,
    body BYTEA NOT NULL,
    PRIMARY KEY (owner)
);
CREATE TABLE github_sign_ins (
    call TEXT COLLATE "C" NOT NULL,
    thread_id TEXT COLLATE "C" NOT NULL,
    asked INTEGER NOT NULL,
    body BYTEA NOT NULL,
    PRIMARY KEY (call)
);
CREATE INDEX github_sign_ins_by_thread ON github_sign_ins (thread_id);
"""


def upgrade() -> None:
    """Create them."""
    for statement in filter(str.strip, _TABLES.split(";\n")):
        op.execute(statement)
