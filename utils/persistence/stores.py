"""Where an agent keeps each thing: in files of its folder, in memory, or in its schema of a database."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import TYPE_CHECKING, Protocol

from utils.encryption.codec import PLAIN, Codec
from utils.persistence.files import StoreFile

if TYPE_CHECKING:
    from langgraph.checkpoint.base import BaseCheckpointSaver

    from utils.persistence.contexts import Person
    from utils.persistence.delegations import DelegationRecord
    from utils.persistence.encrypted.shared_keys import SharedKeys
    from utils.persistence.memories import Memories
    from utils.persistence.postgres.pool import PostgresPool
    from utils.persistence.runs import RunStore
    from utils.persistence.sqlite_file import SqliteFolder
    from utils.persistence.task_log_store import TaskLogStore
    from utils.persistence.titles import Titles
    from utils.persistence.tool_record import ToolRecord


class Opened(Protocol):
    """A store that must be opened before its use."""

    async def open(self) -> None:
        """Open it. Safe to call twice."""

    async def close(self) -> None:
        """Close it. Safe to call twice."""


class Contexts(Opened, Protocol):
    """The map from (local thread, agent) to the remote context id; `utils.persistence.contexts` says more."""

    async def use(self, thread_id: str, agent: str, person: Person) -> str:
        """The remote context id of a conversation at an agent, which is in use from now on; the conversation is that of a person."""

    async def put(self, thread_id: str, agent: str, context_id: str) -> None:
        """Store the id that is in use at an agent."""

    async def person(self, thread_id: str) -> Person:
        """Whose conversation a thread is, as far as it is known."""

    async def used(self, thread_id: str) -> dict[str, str]:
        """The context ids that a conversation has at other agents, by agent."""

    async def clear(self, thread_id: str) -> dict[str, str]:
        """Give a thread new context ids at every agent; return the old ones by agent."""

    async def delete(self, thread_id: str) -> None:
        """Delete what is known of a thread."""


class Delegations(Opened, Protocol):
    """The delegations of tasks that have not ended; `utils.persistence.delegations` says more."""

    async def get(self, delegation_id: str) -> DelegationRecord | None:
        """A delegation by the id of its first message."""

    async def of_task(self, parent_task_id: str) -> list[DelegationRecord]:
        """The delegations of one of our tasks that has not ended, oldest first."""

    async def unanswered(self, thread_id: str, agent: str) -> list[DelegationRecord]:
        """The open delegations of a conversation to the agent, oldest first: it works, or waits for the user."""

    async def abandon(self, parent_task_id: str) -> list[DelegationRecord]:
        """End the delegations of a task that has ended: delete the finished ones, return those to cancel."""

    async def abandoned(self, agent: str) -> list[DelegationRecord]:
        """The delegations to an agent that are to be canceled."""

    async def put(self, record: DelegationRecord) -> None:
        """Insert or update a delegation."""

    async def remove(self, delegation_id: str) -> None:
        """Delete a delegation of which nothing is left at its agent."""

    async def delete(self, thread_id: str) -> None:
        """Delete all delegations of a conversation."""


class Cards(Opened, Protocol):
    """The last card of each sub-agent, as text by the address that it was read at."""

    async def all(self) -> dict[str, str]:
        """Every stored card as JSON, by address."""

    async def put(self, url: str, card: str) -> None:
        """Store the card that was read at an address."""


class Artifacts(Protocol):
    """Texts that were left out of model requests, by conversation and handle."""

    async def put(self, scope: str, artifacts: Mapping[str, str]) -> None:
        """Store texts by handle."""

    async def get(self, scope: str, handle: str) -> str | None:
        """The text, or `None` if this scope has no such handle."""

    async def delete_scope(self, scope: str) -> int:
        """Delete all texts of a conversation; return how many."""


class Stores(Protocol):
    """Makes the stores of one agent. The user of a store opens it."""

    def task_log(self) -> TaskLogStore:
        """The task log."""

    def runs(self) -> RunStore:
        """The turns that have not ended."""

    def tool_record(self) -> ToolRecord:
        """The record of tool calls."""

    def contexts(self) -> Contexts:
        """The conversations at other agents."""

    def delegations(self) -> Delegations:
        """The delegations to other agents."""

    def cards(self) -> Cards:
        """The cards of sub-agents."""

    def artifacts(self) -> Artifacts:
        """Texts that were left out of model requests."""

    def titles(self) -> Titles:
        """Titles of conversations."""

    def memories(self) -> Memories:
        """Memories about users."""

    def checkpointer(self, codec: Codec = PLAIN) -> AbstractAsyncContextManager[BaseCheckpointSaver[str]]:
        """The checkpoints of conversations, open within the block, encrypted by `codec`."""


class SqliteStores:
    """SQLite databases in the agent's folder, or in memory."""

    def __init__(self, folder: SqliteFolder) -> None:
        self._folder = folder

    def task_log(self) -> TaskLogStore:
        """The task log."""
        from utils.persistence.task_log_sqlite import SqliteTaskLogStore

        return SqliteTaskLogStore(self._folder / StoreFile.TASKS)

    def runs(self) -> RunStore:
        """The turns that have not ended."""
        from utils.persistence.runs import SqliteRuns

        return SqliteRuns(self._folder / StoreFile.RUNS)

    def tool_record(self) -> ToolRecord:
        """The record of tool calls."""
        from utils.persistence.tool_record import SqliteToolRecord

        return SqliteToolRecord(self._folder / StoreFile.TOOL_CALLS)

    def contexts(self) -> Contexts:
        """The conversations at other agents."""
        from utils.persistence.contexts import RemoteContexts

        return RemoteContexts(self._folder / StoreFile.CONTEXTS)

    def delegations(self) -> Delegations:
        """The delegations to other agents."""
        from utils.persistence.delegations import DelegationStore

        return DelegationStore(self._folder / StoreFile.DELEGATIONS)

    def cards(self) -> Cards:
        """The cards of sub-agents."""
        from utils.persistence.agent_cards import AgentCards

        return AgentCards(self._folder / StoreFile.CARDS)

    def artifacts(self) -> Artifacts:
        """Texts that were left out of model requests."""
        from utils.persistence.artifacts import SqliteArtifactStore

        return SqliteArtifactStore(self._folder / StoreFile.ARTIFACTS)

    def titles(self) -> Titles:
        """Titles of conversations."""
        from utils.persistence.titles import SqliteTitles

        return SqliteTitles(self._folder / StoreFile.TITLES)

    def memories(self) -> Memories:
        """Memories about users."""
        from utils.persistence.memories import SqliteMemories

        return SqliteMemories(self._folder / StoreFile.MEMORIES)

    def checkpointer(self, codec: Codec = PLAIN) -> AbstractAsyncContextManager[BaseCheckpointSaver[str]]:
        """The checkpoints of conversations."""
        from utils.persistence.checkpoints import open_checkpointer

        return open_checkpointer(self._folder / StoreFile.CHECKPOINTS, codec)


class DatabaseStores:
    """Tables in the agent's schema of a PostgreSQL database."""

    def __init__(self, pool: PostgresPool) -> None:
        self._pool = pool

    def task_log(self) -> TaskLogStore:
        """The task log."""
        from utils.persistence.postgres.task_log import PostgresTaskLogStore

        return PostgresTaskLogStore(self._pool)

    def runs(self) -> RunStore:
        """The turns that have not ended."""
        from utils.persistence.postgres.runs import PostgresRuns

        return PostgresRuns(self._pool)

    def tool_record(self) -> ToolRecord:
        """The record of tool calls."""
        from utils.persistence.postgres.tool_record import PostgresToolRecord

        return PostgresToolRecord(self._pool)

    def contexts(self) -> Contexts:
        """The conversations at other agents."""
        from utils.persistence.postgres.contexts import PostgresRemoteContexts

        return PostgresRemoteContexts(self._pool)

    def delegations(self) -> Delegations:
        """The delegations to other agents."""
        from utils.persistence.postgres.delegations import PostgresDelegations

        return PostgresDelegations(self._pool)

    def cards(self) -> Cards:
        """The cards of sub-agents."""
        from utils.persistence.postgres.agent_cards import PostgresAgentCards

        return PostgresAgentCards(self._pool)

    def artifacts(self) -> Artifacts:
        """Texts that were left out of model requests."""
        from utils.persistence.postgres.artifacts import PostgresArtifactStore

        return PostgresArtifactStore(self._pool)

    def titles(self) -> Titles:
        """Titles of conversations."""
        from utils.persistence.postgres.titles import PostgresTitles

        return PostgresTitles(self._pool)

    def memories(self) -> Memories:
        """Memories about users."""
        from utils.persistence.postgres.memories import PostgresMemories

        return PostgresMemories(self._pool)

    def checkpointer(self, codec: Codec = PLAIN) -> AbstractAsyncContextManager[BaseCheckpointSaver[str]]:
        """The checkpoints of conversations."""
        from utils.persistence.postgres.checkpoints import PrunedSaver

        return nullcontext(PrunedSaver(self._pool, codec))


def stores_in(
    folder: SqliteFolder,
    database: PostgresPool | None,
    codec: Codec = PLAIN,
    shared: SharedKeys | None = None,
) -> Stores:
    """The stores of an agent: in its database if it has one, otherwise in its folder; encrypted by `codec`.

    `shared` tells whether its keys are those of the other replicas.
    """
    from utils.persistence.encrypted.stores import EncryptedStores

    stores = SqliteStores(folder) if database is None else DatabaseStores(database)
    return EncryptedStores(stores, codec, shared)
