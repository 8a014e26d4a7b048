"""`AgentRuntime`: the services that an agent is given, frozen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from utils.encryption.codec import PLAIN, Codec

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langgraph.checkpoint.base import BaseCheckpointSaver

    from utils.a2a_common.graph.settings import AgentSettings
    from utils.embeddings import Embedder
    from utils.persistence.encrypted.shared_keys import SharedKeys
    from utils.persistence.postgres.pool import PostgresPool
    from utils.persistence.sqlite_file import MemoryFolder, SqliteFolder
    from utils.persistence.stores import Stores


@dataclass(frozen=True, slots=True)
class AgentRuntime:
    """The services around one agent.

    Attributes:
        home: The agent's own folder, for indexes and other files.
        settings: The settings that every agent has, parsed once.
        model: The chat model.
        checkpointer: Stores conversations.
        embedder: The embedding model, or `None` for lexical search only.
        database: The PostgreSQL database that holds what the agent stores; `None` for SQLite databases in `folder`.
        memory: Where its SQLite databases are when nothing of a conversation may be written to a file.
        codec: Encrypts what is stored of conversations; also for stores of an agent's own.
        shared_keys: Tells whether the codec has the keys of the other replicas; `None` without a database.
        shared_answer_key: The key of the secrets of answers that all replicas have; `None` for that of a file.
        notice: The notice about the model in the first answer of a conversation; empty for real models.
    """

    home: Path
    settings: AgentSettings
    model: BaseChatModel
    checkpointer: BaseCheckpointSaver[str]
    embedder: Embedder | None = None
    notice: str = ""
    database: PostgresPool | None = None
    memory: MemoryFolder | None = None
    codec: Codec = field(default=PLAIN, repr=False)
    shared_keys: SharedKeys | None = None
    shared_answer_key: bytes | None = field(default=None, repr=False)

    @property
    def stores(self) -> Stores:
        """Makes the stores of the agent, in files, in memory or in the database."""
        from utils.persistence.stores import stores_in

        return stores_in(self.folder, self.database, self.codec, self.shared_keys)

    @property
    def folder(self) -> SqliteFolder:
        """Folder for SQLite databases with data of users and agents: `runtime.folder / "notes.sqlite"`."""
        return self.memory or self.home

    @property
    def environ(self) -> Mapping[str, str]:
        """The process's variables, for an agent's own settings: `MySettings.load(runtime.environ)` in its constructor."""
        return self.settings.environ

    def answer_key(self) -> bytes:
        """Makes the nonces that show that an answer comes from the client that was asked."""
        return self.shared_answer_key or self.settings.auth.answer_key_or(self.home / "answers.key")
