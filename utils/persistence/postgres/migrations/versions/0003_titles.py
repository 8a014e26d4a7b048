"""Titles that people gave to their conversations."""

from __future__ import annotations

from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Create their table."""
    op.execute("""
CREATE TABLE titles (
    owner TEXT COLLATE "C" NOT NULL,
    context_id TEXT COLLATE "C" NOT NULL,
    title TEXT NOT NULL,
    PRIMARY KEY (owner, context_id)
)""")
