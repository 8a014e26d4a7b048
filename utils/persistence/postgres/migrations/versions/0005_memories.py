"""What was learnt about users, and from which conversations."""

from __future__ import annotations

from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Create their tables."""
    op.execute("""
CREATE TABLE memories (
    owner TEXT COLLATE "C" NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    body BYTEA NOT NULL,
    created DOUBLE PRECISION NOT NULL,
    updated DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (owner, kind, id)
)""")
    op.execute("""
CREATE TABLE memory_sources (
    thread_id TEXT COLLATE "C" NOT NULL,
    owner TEXT COLLATE "C" NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (thread_id, owner, kind, id)
)""")
    op.execute("CREATE INDEX memory_sources_by_memory ON memory_sources (owner, kind, id)")
