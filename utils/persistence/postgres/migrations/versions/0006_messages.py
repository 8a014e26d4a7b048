"""Messages of conversations, each stored once beside the checkpoints that name it."""

from __future__ import annotations

from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Create their table."""
    op.execute("""
CREATE TABLE conversation_messages (
    thread_id TEXT COLLATE "C" NOT NULL,
    digest TEXT COLLATE "C" NOT NULL,
    body BYTEA NOT NULL,
    PRIMARY KEY (thread_id, digest)
)""")
