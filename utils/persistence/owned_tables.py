"""The tables with an agent's data of conversations: the columns that find their rows, and the columns that are read."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any, NamedTuple

from utils.persistence.database import connect
from utils.persistence.files import StoreFile

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path


class Table(NamedTuple):
    """A table with keys of conversations: its file and name in SQLite, its name in PostgreSQL, the column of the key."""

    file: str
    name: str
    shared: str
    column: str


BY_THREAD = (
    Table(StoreFile.CHECKPOINTS, "checkpoints", "checkpoints", "thread_id"),
    Table(StoreFile.CHECKPOINTS, "writes", "checkpoint_writes", "thread_id"),
    Table(StoreFile.CHECKPOINTS, "conversation_messages", "conversation_messages", "thread_id"),
    Table("", "", "checkpoint_blobs", "thread_id"),
    Table(StoreFile.ARTIFACTS, "artifacts", "artifacts", "scope"),
    Table(StoreFile.CONTEXTS, "remote_contexts", "remote_contexts", "thread_id"),
    Table(StoreFile.CONTEXTS, "cleared_threads", "cleared_threads", "thread_id"),
    Table(StoreFile.DELEGATIONS, "errands", "delegations", "thread_id"),
    Table(StoreFile.CHANGES, "changes", "changes", "thread_id"),
    Table(StoreFile.AUTHORISATIONS, "sign_ins", "github_sign_ins", "thread_id"),
)
BY_CONTEXT = (Table(StoreFile.TITLES, "titles", "titles", "context_id"),)
BY_TASK = (
    Table(StoreFile.PUSH, "push_configs", "push_configs", "task_id"),
    Table(StoreFile.PUSH, "push_sent", "", "task_id"),
    Table(StoreFile.TASKS, "task_attempts", "task_attempts", "task_id"),
    Table(StoreFile.TASKS, "tasks", "tasks", "id"),
)
PEOPLE = Table(StoreFile.CONTEXTS, "thread_people", "thread_people", "thread_id")

TaskKey = tuple[str, str, str]
"""A row of `TASKS`: id, context id and owner."""

RemoteKey = tuple[str, str, str]
"""A row of `REMOTE`: thread, agent and context id there."""

TASKS = "SELECT id, context_id, owner FROM tasks"
BUSY = "SELECT task_id FROM runs"
HELD = "SELECT DISTINCT thread_id FROM checkpoints"
REMOTE = "SELECT thread_id, agent, context_id FROM remote_contexts"


def rows_in(file: Path, table: str, query: str) -> list[Any]:
    """The rows of a query on a file; none if the file or the table is missing.

    Raises:
        StorageError: The file cannot be opened.
    """
    if not file.exists():
        return []
    with closing(connect(file)) as db:
        return db.execute(query).fetchall() if table in tables_in(db) else []


def tables_in(db: sqlite3.Connection) -> set[str]:
    """The names of the tables of a file."""
    return {str(name) for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
