"""Which source holds which document: what decides when a document goes that nobody deleted.

A source is named in the settings or by hand. A document that the last of its sources lets go of goes
too. One that none ever held, from an index of before this table, stays until somebody removes it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Mapping

TABLE = """
CREATE TABLE IF NOT EXISTS claims (
    target TEXT NOT NULL,           -- file, folder or URL that was named
    configured INTEGER NOT NULL,    -- 1: by the settings, 0: by hand
    location TEXT NOT NULL,         -- as in documents
    PRIMARY KEY (target, configured, location)
) WITHOUT ROWID
"""
"""Made where it is missing. Programs that do not know it leave it alone, so it needs no new version."""
INDEX = "CREATE INDEX IF NOT EXISTS claims_by_location ON claims(location)"


def replace(
    connection: sqlite3.Connection, holds: Mapping[str, Collection[str]], *, configured: bool
) -> list[str]:
    """Write down what each source holds now.

    Args:
        connection: In a write transaction.
        holds: Locations by source.
        configured: These are all sources that the settings name; the claims of all others named so end.

    Returns:
        Locations that no source holds any more, in order.
    """
    rows = connection.execute(
        "SELECT target, location FROM claims WHERE configured = ?", (configured,)
    ).fetchall()
    before = {(str(row[0]), str(row[1])) for row in rows if configured or row[0] in holds}
    now = {(target, location) for target, held in holds.items() for location in held}
    connection.executemany(
        "DELETE FROM claims WHERE target = ? AND location = ? AND configured = ?",
        [(*claim, configured) for claim in before - now],
    )
    connection.executemany(
        "INSERT INTO claims(target, location, configured) VALUES (?, ?, ?)",
        [(*claim, configured) for claim in now - before],
    )
    released = sorted({location for _, location in before - now})
    return [location for location in released if not _is_held(connection, location)]


def forget(connection: sqlite3.Connection, location: str) -> None:
    """End every claim on a document."""
    connection.execute("DELETE FROM claims WHERE location = ?", (location,))


def _is_held(connection: sqlite3.Connection, location: str) -> bool:
    return connection.execute("SELECT 1 FROM claims WHERE location = ?", (location,)).fetchone() is not None
