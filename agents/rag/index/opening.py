"""The index of an agent: in its database where it has one, else in its folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agents.rag.index.contract import DocumentIndex
    from utils.persistence.postgres.pool import PostgresPool

INDEX_FILE = "index.sqlite"
"""Name of the index in the agent's home folder."""


def index_in(home: Path, database: PostgresPool | None) -> DocumentIndex:
    """The index, not open. Imports the driver only where there is a database."""
    if database is None:
        from agents.rag.index.embedded import EmbeddedIndex

        return EmbeddedIndex(home / INDEX_FILE)
    from agents.rag.index.postgres.index import PostgresIndex

    return PostgresIndex(database)
