"""Task logs of one process, over a store of their own."""

from __future__ import annotations

from pathlib import Path

from utils.a2a_common.tasks.log import TaskLog


def memory_log() -> TaskLog:
    """A log that is lost with the process."""
    from utils.persistence.task_log_memory import MemoryTaskLogStore

    return TaskLog(MemoryTaskLogStore())


def sqlite_log(path: Path) -> TaskLog:
    """A log in a SQLite file that one process writes."""
    from utils.persistence.task_log_sqlite import SqliteTaskLogStore

    return TaskLog(SqliteTaskLogStore(path))
