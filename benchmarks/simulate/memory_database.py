"""A SQLite database in memory that is closed when nothing holds it any more, as where its simulated process was killed."""

from __future__ import annotations

import sqlite3


class _Held(sqlite3.Connection):
    def __del__(self) -> None:
        self.close()


def memory_database() -> sqlite3.Connection:
    """A new database, without transactions of its own."""
    return sqlite3.connect(":memory:", isolation_level=None, factory=_Held)
