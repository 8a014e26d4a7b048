"""Stores conversations: LangGraph's checkpoints in the agent's schema of a PostgreSQL database.

Messages are stored once, and referenced by the checkpoints (`stored_messages`). Only the latest checkpoint of a conversation
is needed (docs/decisions/0008-only-the-latest-checkpoints.md): the others are deleted every few steps, with the messages that
no other one references, by the process that runs the turn of the conversation.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import suppress
from copy import copy
from typing import TYPE_CHECKING, Any, TypeVar, cast

import psycopg
import structlog
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver

from utils.encryption.codec import PLAIN, Codec
from utils.errors import StorageError
from utils.persistence.checkpoint_clock import go_on_after
from utils.persistence.encrypted import places
from utils.persistence.encrypted.serializer import serializer, serializer_of
from utils.persistence.postgres.pool import Connection, PostgresPool
from utils.persistence.postgres.stored_messages import PostgresMessages
from utils.persistence.stored_messages import has_messages

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig
    from langgraph.checkpoint.base import (
        ChannelVersions,
        Checkpoint,
        CheckpointMetadata,
        CheckpointTuple,
    )

    from utils.persistence.stored_messages import StoredMessages

log = structlog.get_logger(__name__)

Result = TypeVar("Result")

EVERY = 4
"""Steps of a conversation between two deletions of its older checkpoints."""


class _NoLock(asyncio.Lock):
    """A lock that does nothing: LangGraph's saver uses one for its single connection, but each call here has its own."""

    async def __aenter__(self) -> None:
        """Do nothing."""

    async def __aexit__(self, *_: object) -> None:
        """Do nothing."""


class PrunedSaver(AsyncPostgresSaver):
    """Keeps only the latest checkpoints of each conversation. After a lost connection an operation is repeated for a while.

    Args:
        pool: The connections.
        codec: Encrypts.
    """

    def __init__(self, pool: PostgresPool, codec: Codec = PLAIN) -> None:
        super().__init__(cast("Any", pool.pool), serde=serializer(codec))
        self.lock = _NoLock()
        self._database = pool
        self._messages = PostgresMessages(pool.schema, codec)
        self._codec = codec
        self._pruning: set[str] = set()

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Store a checkpoint and the messages that are not stored yet; every few steps delete what is no longer needed.

        Raises:
            StorageError: The database failed.
        """
        thread_id = str(config["configurable"]["thread_id"])
        closed = {**checkpoint, "channel_values": self._closed(checkpoint, thread_id)}
        checkpoint = cast("Checkpoint", closed)

        async def put(saver: AsyncPostgresSaver) -> RunnableConfig:
            return await AsyncPostgresSaver.aput(saver, config, checkpoint, metadata, new_versions)

        stored = await self._write(thread_id, put)
        if not config["configurable"]["checkpoint_ns"] and metadata.get("step", 0) % EVERY == 0:
            await self._prune(thread_id)
        return stored

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Store the writes of a step before its checkpoint, and their messages.

        Raises:
            StorageError: The database failed.
        """
        thread_id = str(config["configurable"]["thread_id"])

        async def put(saver: AsyncPostgresSaver) -> None:
            await AsyncPostgresSaver.aput_writes(saver, config, writes, task_id, task_path)

        if has_messages([value for _, value in writes]):
            await self._write(thread_id, put)
        else:
            await self._database.patiently(lambda: put(self._of(thread_id, self.conn)))

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """A checkpoint; the latest when none is named.

        Raises:
            StorageError: The database failed.
        """
        thread_id = str(config["configurable"]["thread_id"])

        async def get(saver: AsyncPostgresSaver) -> CheckpointTuple | None:
            return await AsyncPostgresSaver.aget_tuple(saver, config)

        found = await self._read(thread_id, get)
        if found is not None:
            go_on_after(found.checkpoint["id"])
            self._open_texts(found, thread_id)
        return found

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,  # noqa: A002 - LangGraph's name
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        """The checkpoints of a conversation, latest first; of all of them where none is named.

        Raises:
            StorageError: The database failed.
        """
        found: list[CheckpointTuple] = []
        for each in [config] if config is not None else await self._all():
            thread_id = str(each["configurable"]["thread_id"])

            async def listed(saver: AsyncPostgresSaver, each: RunnableConfig = each) -> list[CheckpointTuple]:
                rows = AsyncPostgresSaver.alist(saver, each, filter=filter, before=before, limit=limit)
                return [one async for one in rows]

            its = await self._read(thread_id, listed)
            for one in its:
                self._open_texts(one, thread_id)
            found += its
        for one in sorted(found, key=lambda one: one.checkpoint["id"], reverse=True)[:limit]:
            yield one

    async def adelete_thread(self, thread_id: str) -> None:
        """Delete a conversation.

        Raises:
            StorageError: The database failed.
        """

        async def delete(db: Connection) -> None:
            await self._messages.delete(db, thread_id)
            await AsyncPostgresSaver.adelete_thread(self._of(thread_id, db), thread_id)

        await self._database.run(delete)

    async def _write(self, thread_id: str, act: Callable[[AsyncPostgresSaver], Awaitable[Result]]) -> Result:
        """Let LangGraph's saver store something, together with the messages in it."""

        async def work(db: Connection) -> Result:
            messages = await self._messages.to_write(db, thread_id)
            result = await act(self._of(thread_id, db, messages))
            await self._messages.store(db, thread_id, messages)
            return result

        return await self._database.run(work)

    async def _read(self, thread_id: str, act: Callable[[AsyncPostgresSaver], Awaitable[Result]]) -> Result:
        """Let LangGraph's saver read something, together with the messages in it."""

        async def work(db: Connection) -> Result:
            return await act(self._of(thread_id, db, await self._messages.to_read(db, thread_id)))

        return await self._database.run(work)

    def _of(self, thread_id: str, where: Any, messages: StoredMessages | None = None) -> AsyncPostgresSaver:
        """The same saver with the serializer of one conversation, on the pool or a connection of it."""
        one = copy(self)
        one.conn = where
        one.serde = serializer_of(self.serde, thread_id, messages)
        return one

    async def _all(self) -> list[RunnableConfig]:
        async def threads(db: Connection) -> list[Any]:
            return await (await db.execute(b"SELECT DISTINCT thread_id FROM checkpoints")).fetchall()

        found = await self._database.run(threads)
        return [{"configurable": {"thread_id": thread_id}} for (thread_id,) in found]

    def _closed(self, checkpoint: Checkpoint, thread_id: str) -> dict[str, Any]:
        """The values of the channels; LangGraph stores texts among them in the row of the checkpoint, without its serializer."""
        values = checkpoint["channel_values"]
        place = places.checkpoint(thread_id)
        return {**values, **{name: self._codec.encrypt_text(text, place) for name, text in _texts(values)}}

    def _open_texts(self, found: CheckpointTuple, thread_id: str) -> None:
        values = found.checkpoint["channel_values"]
        place = places.checkpoint(thread_id)
        values.update({name: self._codec.decrypt_text(text, place) for name, text in _texts(values)})

    async def _prune(self, thread_id: str) -> None:
        """Delete older checkpoints; those that cannot be deleted now are deleted a few steps later."""
        if thread_id in self._pruning:  # two at once may wait for each other
            return
        self._pruning.add(thread_id)
        try:
            with suppress(psycopg.errors.SerializationFailure, psycopg.errors.DeadlockDetected, StorageError):
                await self.aprune([thread_id], strategy="keep_latest")
                await self._database.run(lambda db: self._messages.sweep(db, thread_id))
        except (psycopg.Error, OSError) as error:
            log.warning("checkpoints.not_pruned", kind=type(error).__name__)
        finally:
            self._pruning.discard(thread_id)


def _texts(values: dict[str, Any]) -> list[tuple[str, str]]:
    return [(name, value) for name, value in values.items() if isinstance(value, str)]
