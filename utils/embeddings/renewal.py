"""Encrypts cached vectors anew."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from utils.embeddings.store import place_of
from utils.encryption.codec import MARK, OLD_MARK, Codec
from utils.errors import StorageError

FILE = "embeddings.sqlite"


def renew_vectors(folder: Path, codec: Codec) -> int:
    """Encrypt the plain vectors in a folder's cache, and delete those of other keys, which nobody finds; return how many.

    Raises:
        StorageError: The file cannot be read or written.
    """
    file = folder / FILE
    if not file.exists():
        return 0
    try:
        with closing(sqlite3.connect(file, isolation_level=None)) as db:
            db.execute("PRAGMA secure_delete=ON")
            changed = _renew(db, codec)
            db.execute("VACUUM")
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    except sqlite3.Error as error:
        raise StorageError(
            f"The file {folder.name}/{FILE} cannot be rewritten; it can be deleted."
        ) from error
    return changed


def _renew(db: sqlite3.Connection, codec: Codec) -> int:
    if db.execute("SELECT 1 FROM sqlite_master WHERE name = 'vectors'").fetchone() is None:
        return 0
    changed = 0
    db.execute("BEGIN IMMEDIATE")
    for model, key in db.execute("SELECT model, key FROM vectors").fetchall():
        (stored,) = db.execute(
            "SELECT vector FROM vectors WHERE model = ? AND key = ?", (model, key)
        ).fetchone()
        if codec.is_current(stored):
            continue
        changed += 1
        db.execute("DELETE FROM vectors WHERE model = ? AND key = ?", (model, key))
        if not stored.startswith((MARK, OLD_MARK)):
            name = codec.digest(key)
            row = (model, name, codec.encrypt(stored, place_of(model, name)))
            db.execute("INSERT OR REPLACE INTO vectors (model, key, vector) VALUES (?, ?, ?)", row)
    db.execute("COMMIT")
    return changed
