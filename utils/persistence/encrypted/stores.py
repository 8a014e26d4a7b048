"""The stores of an agent with encrypted contents, over those in files or in a database."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from utils.encryption.codec import PLAIN, Codec, Place
from utils.encryption.errors import StorageUnreadable
from utils.persistence.encrypted import places
from utils.persistence.encrypted.task_log import EncryptedTaskLog
from utils.persistence.encrypted.wrapped import Wrapped
from utils.persistence.runs import LOST, RunRow, RunStore, UnderWay
from utils.persistence.tool_record import CallKey, RecordedCall, ToolRecord

if TYPE_CHECKING:
    from langgraph.checkpoint.base import BaseCheckpointSaver

    from utils.persistence.delegations import DelegationRecord
    from utils.persistence.encrypted.shared_keys import SharedKeys
    from utils.persistence.memories import Memories, MemoryRow
    from utils.persistence.stores import Artifacts, Cards, Contexts, Delegations, Stores
    from utils.persistence.task_log_store import TaskLogStore
    from utils.persistence.titles import Titles

VALUE = "encrypted"
"""The key under which a mapping holds its encrypted form."""


class EncryptedStores:
    """Encrypts the texts of users, models and agents before they reach `inner`.

    Cards and the ids of conversations at other agents hold no word of a conversation, and stay as they are. Without
    keys nothing is encrypted, and what other processes encrypted is refused.

    Args:
        inner: Stores what it is given.
        codec: Encrypts.
        shared: Tells whether the keys are those of the other replicas; `None` where there are none.
    """

    def __init__(self, inner: Stores, codec: Codec, shared: SharedKeys | None = None) -> None:
        self._inner = inner
        self._codec = codec
        self._shared = shared

    def task_log(self) -> TaskLogStore:
        """The task log."""
        return EncryptedTaskLog(self._inner.task_log(), self._codec, self._shared)

    def runs(self) -> RunStore:
        """The turns that have not ended."""
        return EncryptedRuns(self._inner.runs(), self._codec, self._shared)

    def tool_record(self) -> ToolRecord:
        """The record of tool calls."""
        return EncryptedToolRecord(self._inner.tool_record(), self._codec)

    def contexts(self) -> Contexts:
        """The conversations at other agents."""
        return self._inner.contexts()

    def delegations(self) -> Delegations:
        """The delegations to other agents."""
        return EncryptedDelegations(self._inner.delegations(), self._codec)

    def cards(self) -> Cards:
        """The cards of sub-agents."""
        return self._inner.cards()

    def artifacts(self) -> Artifacts:
        """Texts that were left out of model requests."""
        return EncryptedArtifacts(self._inner.artifacts(), self._codec)

    def titles(self) -> Titles:
        """Titles of conversations."""
        return EncryptedTitles(self._inner.titles(), self._codec)

    def memories(self) -> Memories:
        """Memories about users."""
        return EncryptedMemories(self._inner.memories(), self._codec)

    def checkpointer(self, codec: Codec = PLAIN) -> AbstractAsyncContextManager[BaseCheckpointSaver[str]]:
        """The checkpoints of conversations."""
        return self._inner.checkpointer(codec if codec.on else self._codec)


class EncryptedRuns(Wrapped[RunStore], RunStore):
    """Encrypts the turns themselves.

    A replica whose keys do not read what the others store is given no turn, since it could not read the conversation, and may
    add none, since it could not read the answer.

    Args:
        inner: Stores the turns.
        codec: Encrypts.
        shared: Tells whether the keys are those of the other replicas; `None` where there are none.
    """

    def __init__(self, inner: RunStore, codec: Codec, shared: SharedKeys | None = None) -> None:
        super().__init__(inner, codec)
        self._shared = shared

    async def put(self, row: RunRow) -> None:
        """Add a turn behind the others."""
        await self._check()
        await self._inner.put(replace(row, body=self._codec.encrypt(row.body, _run(row))))

    async def take(self, task_id: str, *, writer: int, attempts: int) -> None:
        """Record which process works on a turn."""
        await self._inner.take(task_id, writer=writer, attempts=attempts)

    async def remove(self, task_id: str, *, writer: int) -> None:
        """Remove an ended turn."""
        await self._inner.remove(task_id, writer=writer)

    async def row(self, task_id: str) -> RunRow | None:
        """That of one task; one that no key reads has the body `LOST`."""
        row = await self._inner.row(task_id)
        await (
            self._check()
        )  # behind the read: a replica with new keys tells of them before it stores anything
        return None if row is None else self._row(row)

    async def under_way(self, owner: str) -> UnderWay:
        """How many there are of an owner, and how large they are."""
        return await self._inner.under_way(owner)

    async def rows(self) -> list[RunRow]:
        """All of them, oldest first; one that no key reads has the body `LOST`, so that the others go on."""
        rows = await self._inner.rows()
        await self._check()
        return [self._row(row) for row in rows]

    async def _check(self) -> None:
        if self._shared is not None:
            await self._shared.check()

    def _row(self, row: RunRow) -> RunRow:
        try:
            return replace(row, body=self._codec.decrypt(bytes(row.body), _run(row)))
        except StorageUnreadable:
            return replace(row, body=LOST)


def _run(row: RunRow) -> Place:
    return places.run(row.task_id, row.owner, row.conversation)


class EncryptedToolRecord(Wrapped[ToolRecord], ToolRecord):
    """Encrypts the outcomes of tool calls."""

    async def get(self, key: CallKey) -> RecordedCall | None:
        """A call that has begun."""
        found = await self._inner.get(key)
        if found is None or found.outcome is None:
            return found
        return RecordedCall(self._codec.decrypt(found.outcome, _call(key)))

    async def begin(self, key: CallKey) -> None:
        """Record that a call begins."""
        await self._inner.begin(key)

    async def finish(self, key: CallKey, outcome: bytes) -> None:
        """Record the outcome of a call."""
        await self._inner.finish(key, self._codec.encrypt(outcome, _call(key)))

    async def withdraw(self, key: CallKey) -> None:
        """Delete the record of a call that has not ended."""
        await self._inner.withdraw(key)

    async def forget(self, task_id: str) -> None:
        """Delete the records of a task."""
        await self._inner.forget(task_id)


def _call(key: CallKey) -> Place:
    return places.outcome(key.task_id, key.step, key.call_id)


class EncryptedDelegations(Wrapped["Delegations"]):
    """Encrypts the requests to other agents, their questions, and their usage."""

    async def get(self, delegation_id: str) -> DelegationRecord | None:
        """A delegation by the id of its first message."""
        found = await self._inner.get(delegation_id)
        return None if found is None else self._plain(found)

    async def of_task(self, parent_task_id: str) -> list[DelegationRecord]:
        """The delegations of one of our tasks."""
        return self._all(await self._inner.of_task(parent_task_id))

    async def unanswered(self, thread_id: str, agent: str) -> list[DelegationRecord]:
        """The open delegations of a conversation to the agent."""
        return self._all(await self._inner.unanswered(thread_id, agent))

    async def abandon(self, parent_task_id: str) -> list[DelegationRecord]:
        """End the delegations of a task that has ended."""
        return self._all(await self._inner.abandon(parent_task_id))

    async def abandoned(self, agent: str) -> list[DelegationRecord]:
        """The delegations to an agent that are to be canceled."""
        return self._all(await self._inner.abandoned(agent))

    async def put(self, record: DelegationRecord) -> None:
        """Insert or update a delegation."""
        if not self._codec.on:
            await self._inner.put(record)
            return
        stored = replace(
            record,
            request=self._codec.encrypt_text(record.request, _of(record, "request")),
            questions=[self._closed(list(record.questions), _of(record, "questions"))],
            counted=self._closed(dict(record.counted), _of(record, "counted")),
        )
        await self._inner.put(stored)

    async def remove(self, delegation_id: str) -> None:
        """Delete a delegation."""
        await self._inner.remove(delegation_id)

    async def delete(self, thread_id: str) -> None:
        """Delete all delegations of a conversation."""
        await self._inner.delete(thread_id)

    def _all(self, stored: list[DelegationRecord]) -> list[DelegationRecord]:
        return [self._plain(record) for record in stored]

    def _plain(self, stored: DelegationRecord) -> DelegationRecord:
        first = stored.questions[0] if stored.questions else {}
        questions = self._opened(first, _of(stored, "questions")) if _is_closed(first) else stored.questions
        counted = stored.counted
        if _is_closed(counted):
            counted = self._opened(counted, _of(stored, "counted"))
        request = self._codec.decrypt_text(stored.request, _of(stored, "request"))
        return replace(stored, request=request, questions=tuple(questions), counted=counted)

    def _closed(self, value: Any, place: Place) -> dict[str, str]:
        return {VALUE: self._codec.encrypt_text(json.dumps(value), place)}

    def _opened(self, value: Mapping[str, Any], place: Place) -> Any:
        return json.loads(self._codec.decrypt_text(value[VALUE], place))


def _of(record: DelegationRecord, column: str) -> Place:
    return places.delegation(column, record.id, record.thread_id, record.agent)


def _is_closed(value: Mapping[str, Any]) -> bool:
    return value.keys() == {VALUE}


def closed_in(held: Any) -> str | None:
    """The encrypted text in a stored list or mapping; `None` if it is not encrypted."""
    first = held[0] if isinstance(held, list) and held else held
    return str(first[VALUE]) if isinstance(first, Mapping) and _is_closed(first) else None


class EncryptedArtifacts:
    """Encrypts the texts; their handles, which are digests of them, stay."""

    def __init__(self, inner: Artifacts, codec: Codec) -> None:
        self._inner = inner
        self._codec = codec

    async def put(self, scope: str, artifacts: Mapping[str, str]) -> None:
        """Store texts by handle."""
        closed = {
            handle: self._codec.encrypt_text(text, places.artifact(scope, handle))
            for handle, text in artifacts.items()
        }
        await self._inner.put(scope, closed)

    async def get(self, scope: str, handle: str) -> str | None:
        """The text, or `None` if this scope has no such handle."""
        found = await self._inner.get(scope, handle)
        return None if found is None else self._codec.decrypt_text(found, places.artifact(scope, handle))

    async def delete_scope(self, scope: str) -> int:
        """Delete all texts of a conversation; return how many."""
        return await self._inner.delete_scope(scope)


class EncryptedTitles(Wrapped["Titles"]):
    """Encrypts the titles."""

    async def get(self, owner: str, context_id: str) -> str:
        """The title of a conversation; none if no key decrypts it, so that a list of conversations can still be shown."""
        stored = await self._inner.get(owner, context_id)
        try:
            return self._codec.decrypt_text(stored, places.title(owner, context_id))
        except StorageUnreadable:
            return ""

    async def put(self, owner: str, context_id: str, title: str) -> None:
        """Give a conversation a title; an empty one takes it away."""
        closed = self._codec.encrypt_text(title, places.title(owner, context_id)) if title else ""
        await self._inner.put(owner, context_id, closed)


class EncryptedMemories(Wrapped["Memories"]):
    """Encrypts what the memories say."""

    async def put(self, row: MemoryRow, sources: Sequence[str]) -> None:
        """Insert or replace a memory."""
        await self._inner.put(replace(row, body=self._codec.encrypt(row.body, _memory(row))), sources)

    async def get(self, owner: str, kind: str, memory_id: str) -> MemoryRow | None:
        """One memory."""
        row = await self._inner.get(owner, kind, memory_id)
        return None if row is None else self._plain(row)

    async def all_of(self, owner: str) -> list[MemoryRow]:
        """All memories of an owner; those that no key reads are empty, so that the others are shown and all can be deleted."""
        return [self._readable(row) for row in await self._inner.all_of(owner)]

    async def owners(self) -> list[tuple[str, str]]:
        """Every owner with each kind of memory that it has."""
        return await self._inner.owners()

    async def remove(self, owner: str, kind: str, memory_id: str) -> None:
        """Delete one memory."""
        await self._inner.remove(owner, kind, memory_id)

    async def join(self, owner: str, kind: str, kept: str, others: Sequence[str]) -> None:
        """Make one memory of several."""
        await self._inner.join(owner, kind, kept, others)

    async def remove_learnt(self, thread_id: str) -> int:
        """Delete the memories that come from this conversation alone."""
        return await self._inner.remove_learnt(thread_id)

    def _readable(self, row: MemoryRow) -> MemoryRow:
        try:
            return self._plain(row)
        except StorageUnreadable:
            return replace(row, body=b"")

    def _plain(self, row: MemoryRow) -> MemoryRow:
        return replace(row, body=self._codec.decrypt(row.body, _memory(row)))


def _memory(row: MemoryRow) -> Place:
    return places.memory(row.owner, row.kind, row.id)
