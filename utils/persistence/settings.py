"""Settings of an agent's storage: where its data is stored, and for how long."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from pydantic import Field, SecretStr, ValidationInfo, field_validator

from utils.errors import SettingsError
from utils.setting_values import choices
from utils.settings import EnvSettings

_SCHEMES = ("postgresql://", "postgres://")


MEGABYTE = 1_000_000


def _largest(variable: str, kind: str) -> Any:
    """A limit of what is stored of a kind."""
    return Field(
        0,
        alias=variable,
        ge=0,
        description=f"Megabytes of {kind} above which an agent deletes its oldest ended conversations; 0 sets no limit.",
    )


class RetentionSettings(EnvSettings):
    """When an agent deletes conversations by itself."""

    days: float = Field(
        0,
        alias="RETENTION_DAYS",
        ge=0,
        description="Days after its last answer that a conversation is deleted with all that belongs to it; 0 keeps all.",
    )
    tasks_mb: float = _largest("RETENTION_TASKS_MB", "tasks with their events and answers")
    checkpoints_mb: float = _largest("RETENTION_CHECKPOINTS_MB", "the state of conversations")
    artifacts_mb: float = _largest("RETENTION_ARTIFACTS_MB", "long texts that left a model's view")
    tool_calls_mb: float = _largest("RETENTION_TOOL_CALLS_MB", "the record of tool calls")
    memories_mb: float = _largest("RETENTION_MEMORIES_MB", "what was learnt about users")
    look_seconds: float = Field(
        600,
        alias="RETENTION_LOOK_SECONDS",
        ge=1,
        description="Seconds between two checks for conversations to delete.",
    )

    @property
    def limits(self) -> Mapping[str, int]:
        """The limit of each kind in bytes, for those that have one."""
        limits = {
            "tasks": self.tasks_mb,
            "checkpoints": self.checkpoints_mb,
            "artifacts": self.artifacts_mb,
            "tool_calls": self.tool_calls_mb,
            "memories": self.memories_mb,
        }
        return {kind: round(megabytes * MEGABYTE) for kind, megabytes in limits.items() if megabytes}


class Migrate(StrEnum):
    """Who brings the tables of a database to the version of the code."""

    START = "start"
    NEVER = "never"


class Store(StrEnum):
    """The kinds of storage for conversations."""

    SQLITE = "sqlite"
    POSTGRESQL = "postgresql"
    MEMORY = "memory"


class DatabaseSettings(EnvSettings):
    """Where conversations are stored: SQLite files or PostgreSQL."""

    store: Store | None = Field(
        None,
        alias="STORE",
        description="What holds conversations: "
        + choices(
            Store,
            sqlite="files in PLATFORM_ENGINEER_HOME",
            postgresql="DATABASE_URL",
            memory="nothing but the process, with which they end",
        )
        + "; postgresql with DATABASE_URL, else sqlite, when unset.",
    )
    url: SecretStr | None = Field(
        None,
        alias="DATABASE_URL",
        validate_default=True,
        description="PostgreSQL database that stores conversations, tasks and the index of documents, as "
        "postgresql://user:password@host/name. API keys and caches stay in files.",
    )
    connections: int = Field(
        10,
        alias="DATABASE_CONNECTIONS",
        ge=2,
        description="Most connections of one process to DATABASE_URL for its data; up to eight more are for its queue, "
        "locks, notifications and health checks.",
    )
    connect_seconds: float = Field(
        5,
        alias="DATABASE_CONNECT_SECONDS",
        gt=0,
        description="Longest wait for DATABASE_URL to answer when a process starts.",
    )
    wait_seconds: float = Field(
        5,
        alias="DATABASE_WAIT_SECONDS",
        gt=0,
        description="How long a request waits while DATABASE_URL cannot be reached, or for a lock there, after which it fails.",
    )
    migrate: Migrate = Field(
        Migrate.START,
        alias="DATABASE_MIGRATE",
        description="start (upgrade the tables when a process starts) or never (refuse to start while the tables are not "
        "up to date).",
    )

    @field_validator("url")
    @classmethod
    def _url_is_postgresql(cls, value: SecretStr | None) -> SecretStr | None:
        if value is not None and not value.get_secret_value().startswith(_SCHEMES):
            raise ValueError("expected an address that begins with postgresql://")
        return value

    @field_validator("url")
    @classmethod
    def _url_fits_the_store(cls, value: SecretStr | None, others: ValidationInfo) -> SecretStr | None:
        store = others.data.get("store")
        if store is Store.POSTGRESQL and value is None:
            raise ValueError("STORE=postgresql needs the address of a database")
        if store in (Store.SQLITE, Store.MEMORY) and value is not None:
            raise ValueError(f"it contradicts STORE={store}; unset one of the two")
        return value


class EngineKind(StrEnum):
    """The engines."""

    LOCAL = "local"
    DISTRIBUTED = "distributed"


class EngineSettings(EnvSettings):
    """Whether one process runs an agent's turns, or all its replicas do."""

    engine: EngineKind | None = Field(
        None,
        alias="ENGINE",
        description=choices(
            EngineKind, local="one process runs all turns", distributed="all replicas do, with DATABASE_URL"
        )
        + "; distributed with DATABASE_URL, else local, when unset.",
    )
    takeover_seconds: float = Field(
        10,
        alias="TAKEOVER_SECONDS",
        ge=3,
        description="Seconds without a sign of life of a replica after which others have taken over its turns.",
    )

    def distributed(self, database: DatabaseSettings) -> bool:
        """Whether all replicas of the agent run its turns.

        Raises:
            SettingsError: They shall, but share no database.
        """
        shared = database.url is not None
        if self.engine is EngineKind.DISTRIBUTED and not shared:
            raise SettingsError("ENGINE", NO_DATABASE)
        return shared and self.engine is not EngineKind.LOCAL


NO_DATABASE = "ENGINE=distributed needs DATABASE_URL: replicas share their turns in a PostgreSQL database."
