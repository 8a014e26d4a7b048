"""Where conversations are kept: LangGraph's checkpoints in the agent's own SQLite file."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from langgraph.checkpoint.base import BaseCheckpointSaver


@asynccontextmanager
async def open_checkpointer(path: Path) -> AsyncIterator[BaseCheckpointSaver[str]]:
    """Open the checkpoints in a SQLite file, made when missing; closed on leaving."""
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

    async with AsyncSqliteSaver.from_conn_string(str(path)) as saver:
        await saver.setup()
        # Checkpoints survive a killed process; a power cut may cost the last ones (WAL with NORMAL).
        await saver.conn.execute("PRAGMA synchronous=NORMAL")
        yield saver
