"""Stores conversations: LangGraph's checkpoints in the agent's schema of a PostgreSQL database.

Only the latest checkpoint of a conversation is needed (docs/decisions/0008-only-the-latest-checkpoints.md). Each holds
all messages, so the others are deleted every few steps, by whoever writes the conversation: the one who runs its turn.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from copy import copy
from typing import TYPE_CHECKING, Any, cast

import psycopg
import structlog
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver

from utils.encryption.codec import PLAIN, Codec
from utils.errors import StorageError
from utils.persistence.checkpoint_clock import go_on_after
from utils.persistence.encrypted import places
from utils.persistence.encrypted.serializer import serializer, serializer_of
from utils.persistence.postgres.pool import PostgresPool

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig
    from langgraph.checkpoint.base import (
        ChannelVersions,
        Checkpoint,
        CheckpointMetadata,
        CheckpointTuple,
    )

log = structlog.get_logger(__name__)

EVERY = 4
"""Steps of a conversation between two deletions of its older checkpoints."""


class _Free(asyncio.Lock):
    """A lock that anybody holds: LangGraph's saver takes one for a single connection, and each call here has its own."""

    async def __aenter__(self) -> None:
        """Go on."""

    async def __aexit__(self, *_: object) -> None:
        """Nothing was taken."""


class PrunedSaver(AsyncPostgresSaver):
    """Keeps only the latest checkpoints of each conversation. After a lost connection an operation is repeated for a while.

    Args:
        pool: The connections.
        codec: Encrypts.
    """

    def __init__(self, pool: PostgresPool, codec: Codec = PLAIN) -> None:
        super().__init__(cast("Any", pool.pool), serde=serializer(codec))
        self.lock = _Free()
        self._patiently = pool.patiently
        self._codec = codec
        self._pruning: set[str] = set()

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Store a checkpoint; every few steps delete those that are no longer needed.

        Raises:
            StorageError: The database failed.
        """
        thread_id = str(config["configurable"]["thread_id"])
        put = super(PrunedSaver, self._of(thread_id)).aput
        closed = {**checkpoint, "channel_values": self._closed(checkpoint, thread_id)}
        checkpoint = cast("Checkpoint", closed)
        stored = await self._patiently(lambda: put(config, checkpoint, metadata, new_versions))
        if not config["configurable"]["checkpoint_ns"] and metadata.get("step", 0) % EVERY == 0:
            await self._prune(thread_id)
        return stored

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Store the writes of a step before its checkpoint.

        Raises:
            StorageError: The database failed.
        """
        put = super(PrunedSaver, self._of(str(config["configurable"]["thread_id"]))).aput_writes
        await self._patiently(lambda: put(config, writes, task_id, task_path))

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """A checkpoint; the latest when none is named.

        Raises:
            StorageError: The database failed.
        """
        thread_id = str(config["configurable"]["thread_id"])
        get = super(PrunedSaver, self._of(thread_id)).aget_tuple
        found = await self._patiently(lambda: get(config))
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
        """The checkpoints of a conversation."""
        one = self if config is None else self._of(str(config["configurable"]["thread_id"]))
        listed = super(PrunedSaver, one).alist(config, filter=filter, before=before, limit=limit)
        async for found in listed:
            self._open_texts(found, str(found.config["configurable"]["thread_id"]))
            yield found

    async def adelete_thread(self, thread_id: str) -> None:
        """Delete a conversation.

        Raises:
            StorageError: The database failed.
        """
        delete = super().adelete_thread
        await self._patiently(lambda: delete(thread_id))

    def _of(self, thread_id: str) -> PrunedSaver:
        """The same saver with the serializer of one conversation."""
        one = copy(self)
        one.serde = serializer_of(self.serde, thread_id)
        return one

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
        except (psycopg.Error, OSError) as error:
            log.warning("checkpoints.not_pruned", kind=type(error).__name__)
        finally:
            self._pruning.discard(thread_id)


def _texts(values: dict[str, Any]) -> list[tuple[str, str]]:
    return [(name, value) for name, value in values.items() if isinstance(value, str)]
