"""The table of the messages of conversations in the SQLite file of their checkpoints. All of it runs in the caller's transaction."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

from utils.persistence.encrypted import places
from utils.persistence.stored_messages import SALT, StoredMessages, names

if TYPE_CHECKING:
    from utils.encryption.codec import Codec

SCHEMA = """
CREATE TABLE IF NOT EXISTS conversation_messages (
    thread_id TEXT NOT NULL,
    digest TEXT NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (thread_id, digest)
)
"""

_STORED = "SELECT digest FROM conversation_messages WHERE thread_id = ? AND digest <> ?"
_BODY = "SELECT body FROM conversation_messages WHERE thread_id = ? AND digest = ?"
_PUT = "INSERT OR IGNORE INTO conversation_messages VALUES (?, ?, ?)"
_DELETE = "DELETE FROM conversation_messages WHERE thread_id = ? AND digest = ?"
_KINDS = (
    "SELECT type FROM checkpoints WHERE thread_id = ? UNION ALL SELECT type FROM writes WHERE thread_id = ?"
)


def messages_of(db: sqlite3.Connection, thread_id: str, codec: Codec) -> StoredMessages:
    """The stored messages of a conversation. It is of use within the transaction alone.

    Raises:
        StorageUnreadable: No key fits.
    """

    def body(digest: str) -> bytes | None:
        row = db.execute(_BODY, (thread_id, digest)).fetchone()
        return None if row is None else codec.decrypt(row[0], places.message(thread_id, digest))

    stored = {digest for (digest,) in db.execute(_STORED, (thread_id, SALT))}
    return StoredMessages(body(SALT), stored, body)


def store(db: sqlite3.Connection, thread_id: str, messages: StoredMessages, codec: Codec) -> None:
    """Store the new messages."""
    for digest, body in messages.rows().items():
        db.execute(_PUT, (thread_id, digest, codec.encrypt(body, places.message(thread_id, digest))))


def sweep(db: sqlite3.Connection, thread_id: str, messages: StoredMessages) -> None:
    """Delete the messages that no checkpoint of the conversation references, nor a step without a checkpoint yet."""
    named: set[str] = set()
    for (kind,) in db.execute(_KINDS, (thread_id, thread_id)):
        named |= names(kind or "")
    unnamed = {*messages.stored, *messages.new} - named
    db.executemany(_DELETE, [(thread_id, digest) for digest in unnamed])
