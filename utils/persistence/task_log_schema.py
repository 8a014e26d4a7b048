"""Tables of the task log in SQLite, and what brings a file of an earlier version to them.

The version of the schema is the file's `user_version`. Version 1 (which wrote 0 there) kept a row per task and the
chunks of its artifacts; its chunks become events, and other events of those tasks there are not.
"""

from __future__ import annotations

import sqlite3

from utils.errors import StorageError

VERSION = 2

_TABLES = """
CREATE TABLE IF NOT EXISTS tasks (
    id TEXT PRIMARY KEY, owner TEXT NOT NULL, context_id TEXT NOT NULL, state INTEGER NOT NULL,
    updated INTEGER NOT NULL, body BLOB NOT NULL, sequence INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS tasks_by_time ON tasks (owner, updated, id);
CREATE INDEX IF NOT EXISTS tasks_by_context ON tasks (owner, context_id, updated, id);
CREATE INDEX IF NOT EXISTS tasks_by_state ON tasks (owner, state, updated, id);
CREATE TABLE IF NOT EXISTS task_events (
    task_id TEXT NOT NULL, sequence INTEGER NOT NULL, kind INTEGER NOT NULL, body BLOB NOT NULL,
    PRIMARY KEY (task_id, sequence)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS task_attempts (
    attempt INTEGER PRIMARY KEY AUTOINCREMENT, task_id TEXT NOT NULL UNIQUE, owner TEXT NOT NULL
);
"""
# AUTOINCREMENT: no number is used twice, so that an old attempt is fenced off even from a task that was deleted and
# began again.

_FROM_VERSION_1 = """
INSERT INTO task_events (task_id, sequence, kind, body)
    SELECT task_id, row_number() OVER (PARTITION BY task_id ORDER BY sequence), CASE append WHEN 0 THEN 6 ELSE 7 END,
        artifact
    FROM task_chunks;
ALTER TABLE tasks RENAME COLUMN version TO sequence;
UPDATE tasks SET sequence =
    (SELECT coalesce(max(task_events.sequence), 0) FROM task_events WHERE task_events.task_id = tasks.id);
DROP TABLE task_chunks;
"""


def check_not_newer(version: int) -> None:
    """Refuse the file of a later version.

    Raises:
        StorageError: Says what to do.
    """
    if version > VERSION:
        raise StorageError(
            "The file tasks.sqlite in PLATFORM_ENGINEER_HOME was written by a later version of this service. Start "
            "that version, or move the file away to start without what it holds."
        )


def prepare(db: sqlite3.Connection) -> None:
    """Create the tables, or bring those of an earlier version to this one, all or nothing.

    Raises:
        StorageError: A later version of this service wrote the file.
    """
    (version,) = db.execute("PRAGMA user_version").fetchone()
    if version == VERSION:
        return
    check_not_newer(version)
    db.execute("BEGIN IMMEDIATE")
    try:
        old = db.execute("SELECT 1 FROM sqlite_master WHERE name = 'task_chunks'").fetchone()
        for statement in (_TABLES + (_FROM_VERSION_1 if old else "")).split(";"):
            db.execute(statement)
        db.execute(f"PRAGMA user_version = {VERSION}")
        db.execute("COMMIT")
    except BaseException:
        db.execute("ROLLBACK")
        raise
