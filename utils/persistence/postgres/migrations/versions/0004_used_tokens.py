"""Service tokens that were used, so that each is taken once over all replicas."""

from __future__ import annotations

from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Create their table."""
    op.execute("""
CREATE TABLE used_tokens (
    id TEXT COLLATE "C" NOT NULL,
    use TEXT NOT NULL,
    until TIMESTAMP WITH TIME ZONE NOT NULL,
    PRIMARY KEY (id)
)""")
    op.execute("CREATE INDEX used_tokens_by_end ON used_tokens (until)")
