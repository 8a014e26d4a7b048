"""The table of the messages of conversations in an agent's schema. All of it runs in the caller's transaction."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from utils.encryption.errors import StorageUnreadable
from utils.persistence.encrypted import places
from utils.persistence.postgres.names import lock_number
from utils.persistence.postgres.pool import PostgresPool
from utils.persistence.stored_messages import SALT, StoredMessages, names

if TYPE_CHECKING:
    from utils.encryption.codec import Codec
    from utils.persistence.postgres.pool import Connection

_STORED = "SELECT digest, CASE digest WHEN %s THEN body END FROM conversation_messages WHERE thread_id = %s"
_BODIES = "SELECT digest, body FROM conversation_messages WHERE thread_id = %s"
_PUT = "INSERT INTO conversation_messages VALUES (%s, %s, %s) ON CONFLICT DO NOTHING"
_KINDS = "SELECT type FROM checkpoint_blobs WHERE thread_id = %s UNION ALL SELECT type FROM checkpoint_writes WHERE thread_id = %s"
_DELETE_SOME = "DELETE FROM conversation_messages WHERE thread_id = %s AND digest = ANY(%s)"
_DELETE = "DELETE FROM conversation_messages WHERE thread_id = %s"


class PostgresMessages:
    """The table `conversation_messages`.

    A process that references messages, or deletes unreferenced ones, holds the lock of their conversation: else a message could be
    deleted while another process references it.

    Args:
        schema: The agent's schema.
        codec: Encrypts the messages.
    """

    def __init__(self, schema: str, codec: Codec) -> None:
        self._schema = schema
        self._codec = codec

    async def to_write(self, db: Connection, thread_id: str) -> StoredMessages:
        """The digests of a conversation's messages, to store more. No other process writes them until the transaction ends.

        Raises:
            StorageUnreadable: No key fits.
        """
        await self._lock(db, thread_id)
        stored = dict(await _rows(db, _STORED, (SALT, thread_id)))
        closed = stored.pop(SALT, None)
        salt = None if closed is None else self._open(thread_id, SALT, closed)
        return StoredMessages(salt, stored)

    async def to_read(self, db: Connection, thread_id: str) -> StoredMessages:
        """The messages of a conversation, in the snapshot that all reads of the transaction see."""
        await db.execute(b"SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        closed = dict(await _rows(db, _BODIES, (thread_id,)))
        opened = await asyncio.to_thread(self._opened, thread_id, closed)  # LangGraph reads on the loop

        def body(digest: str) -> bytes | None:
            if digest in closed:
                return self._open(thread_id, digest, closed[digest])
            return opened.get(digest)

        return StoredMessages(body=body)

    async def store(self, db: Connection, thread_id: str, messages: StoredMessages) -> None:
        """Store the new messages."""
        if messages.new:  # encrypting a large file takes a while
            rows = await asyncio.to_thread(self._closed, thread_id, messages)
            await db.cursor().executemany(_PUT.encode(), rows)

    async def sweep(self, db: Connection, thread_id: str) -> None:
        """Delete the messages that no checkpoint of the conversation references, nor a step without a checkpoint yet."""
        await self._lock(db, thread_id)
        named: set[str] = set()
        for (kind,) in await _rows(db, _KINDS, (thread_id, thread_id)):
            named |= names(kind or "")
        stored = {digest for digest, _ in await _rows(db, _STORED, (SALT, thread_id))}
        if unnamed := stored - named - {SALT}:
            await db.execute(_DELETE_SOME.encode(), (thread_id, list(unnamed)))

    async def delete(self, db: Connection, thread_id: str) -> None:
        """Delete all messages of a conversation."""
        await self._lock(db, thread_id)
        await db.execute(_DELETE.encode(), (thread_id,))

    def _opened(self, thread_id: str, closed: dict[str, bytes]) -> dict[str, bytes]:
        """Decrypt the messages that can be decrypted. The others stay in `closed`: reading one of them raises the error."""
        found: dict[str, bytes] = {}
        for digest in list(closed):
            with suppress(StorageUnreadable):
                found[digest] = self._open(thread_id, digest, closed[digest])
                del closed[digest]
        return found

    def _open(self, thread_id: str, digest: str, stored: bytes) -> bytes:
        return self._codec.decrypt(bytes(stored), places.message(thread_id, digest))

    def _closed(self, thread_id: str, messages: StoredMessages) -> list[tuple[str, str, bytes]]:
        return [
            (thread_id, digest, self._codec.encrypt(body, places.message(thread_id, digest)))
            for digest, body in messages.rows().items()
        ]

    async def _lock(self, db: Connection, thread_id: str) -> None:
        """Hold the lock of a conversation's messages until the transaction ends."""
        number = lock_number(self._schema, "conversation_messages", thread_id)
        await PostgresPool.lock(db, number)


async def _rows(db: Connection, query: str, values: tuple[str, ...]) -> list[Any]:
    return await (await db.execute(query.encode(), values)).fetchall()
