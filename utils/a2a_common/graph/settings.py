"""`AgentSettings`: every setting that all agents have, parsed once when the process starts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self

from utils.auth.settings import AuthSettings
from utils.context.settings import ConstraintSettings, ContextSettings
from utils.encryption.settings import EncryptionSettings
from utils.llm.settings import ToolCallSettings
from utils.net.settings import FileSettings
from utils.observability.settings import TelemetrySettings
from utils.persistence.settings import DatabaseSettings, EngineSettings, RetentionSettings
from utils.resilience.settings import BudgetSettings
from utils.settings import (
    EmbeddingSettings,
    HomeSettings,
    LLMSettings,
    McpSettings,
    RecoverySettings,
    ServerSettings,
)
from utils.web.settings import WebSettings


@dataclass(frozen=True, slots=True)
class AgentSettings:
    """The settings of one agent's process.

    Attributes:
        environ: The variables that all of this was parsed from. An agent parses its own settings from them, and
            `${NAME}` in MCP_SERVERS is looked up here. Holds secrets: never log it.
        home: Where data is stored.
        telemetry: Where traces go.
        server: How the server listens and what it accepts.
        llm: The chat model.
        tool_calls: How it is asked for tool calls.
        embeddings: The embedding model.
        context: How much a model request may hold.
        pins: Who finds the constraints that a user states.
        recovery: Time limits and the fallback model.
        budget: What one task may use.
        mcp: MCP servers and the waits for them.
        retention: When conversations are deleted.
        database: Which database holds what the agent stores, if any.
        encryption: With which keys that is encrypted.
        engine: Who runs its turns.
        files: From where files are fetched that a user sends by their address.
        auth: Who may call.
        web: What a browser sees.
    """

    environ: Mapping[str, str] = field(repr=False)
    home: HomeSettings
    telemetry: TelemetrySettings
    server: ServerSettings
    llm: LLMSettings
    tool_calls: ToolCallSettings
    embeddings: EmbeddingSettings
    context: ContextSettings
    pins: ConstraintSettings
    recovery: RecoverySettings
    budget: BudgetSettings
    mcp: McpSettings
    retention: RetentionSettings
    database: DatabaseSettings
    encryption: EncryptionSettings
    engine: EngineSettings
    files: FileSettings
    auth: AuthSettings
    web: WebSettings

    @classmethod
    def load(cls, environ: Mapping[str, str]) -> Self:
        """Parse all of them.

        Raises:
            SettingsError: A value is missing or wrong. Names the variable, never shows the value.
        """
        return cls(
            environ=environ,
            home=HomeSettings.load(environ),
            telemetry=TelemetrySettings.load(environ),
            server=ServerSettings.load(environ),
            llm=LLMSettings.load(environ),
            tool_calls=ToolCallSettings.load(environ),
            embeddings=EmbeddingSettings.load(environ),
            context=ContextSettings.load(environ),
            pins=ConstraintSettings.load(environ),
            recovery=RecoverySettings.load(environ),
            budget=BudgetSettings.load(environ),
            mcp=McpSettings.load(environ),
            retention=RetentionSettings.load(environ),
            database=DatabaseSettings.load(environ),
            encryption=EncryptionSettings.load(environ),
            engine=EngineSettings.load(environ),
            files=FileSettings.load(environ),
            auth=AuthSettings.load(environ),
            web=WebSettings.load(environ),
        )
