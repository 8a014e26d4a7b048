"""Every shared setting, read from the environment once, at the edge.

A group of settings is a frozen pydantic model whose fields carry the environment variable as
alias. `load()` reads the groups that a process needs; nothing else reads the environment, so
tests pass a mapping. An agent with settings of its own subclasses `EnvSettings` in its folder.
An empty value counts as unset (compose files and charts write `NAME=` for "default").
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, field_validator

from utils.errors import SettingsError
from utils.setting_values import http_address, price_table


class EnvSettings(BaseModel):
    """Base of every group of settings."""

    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=True, hide_input_in_errors=True)

    @classmethod
    def load(cls, environ: Mapping[str, str] | None = None) -> Self:
        """Read this group.

        Args:
            environ: Variables by name; the process environment over a `.env` file when omitted.

        Raises:
            SettingsError: A value is missing or wrong. Names the variable, never shows the value.
        """
        source = process_environment() if environ is None else environ
        try:
            return cls.model_validate(_given(source))
        except ValidationError as error:
            raise _problems(error)[0] from error

    @classmethod
    def problems(cls, environ: Mapping[str, str]) -> list[SettingsError]:
        """All that is wrong with this group, in the order of its settings; `load` raises the first."""
        try:
            cls.model_validate(_given(environ))
        except ValidationError as error:
            return _problems(error)
        return []


def _given(environ: Mapping[str, str]) -> dict[str, str]:
    return {name: value.strip() for name, value in environ.items() if value.strip()}


def _problems(error: ValidationError) -> list[SettingsError]:
    found = []
    for one in error.errors(include_input=False, include_url=False):
        variable = str(one["loc"][0]) if one["loc"] else "environment"
        reason = str(one["msg"]).removeprefix("Value error, ")
        found.append(SettingsError(variable, f"Setting {variable} is wrong: {reason}."))
    return found


def env_file(folder: Path | None = None) -> dict[str, str]:
    """The variables of the `.env` file in `folder` (default: here); none where there is no such file.

    Raises:
        SettingsError: It is no text in UTF-8, or cannot be read.
    """
    from dotenv import dotenv_values

    file = (folder or Path.cwd()) / ".env"
    if not file.is_file():
        return {}
    try:
        found = dotenv_values(file, encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise SettingsError(
            ".env", "The file .env is not text in UTF-8: save it in that encoding."
        ) from error
    except OSError as error:
        raise SettingsError(".env", "The file .env cannot be read.") from error
    return {name: value for name, value in found.items() if value is not None}


def process_environment(folder: Path | None = None) -> dict[str, str]:
    """The variables of this process over those of a `.env` file in `folder` (default: here).

    Raises:
        SettingsError: The file cannot be read.
    """
    return env_file(folder) | dict(os.environ)


def own_environment() -> dict[str, str]:
    """The variables of this process alone."""
    return dict(os.environ)


class ModelProvider(StrEnum):
    """Where chat models or embeddings come from."""

    EMBEDDED = "embedded"
    OPENAI = "openai"
    AZURE_OPENAI = "azure-openai"
    AWS_BEDROCK = "aws-bedrock"
    OPENAI_COMPATIBLE = "openai-compatible"


class EmbeddingsProvider(StrEnum):
    """Where embeddings come from; `none` means lexical search only."""

    EMBEDDED = "embedded"
    OPENAI = "openai"
    AZURE_OPENAI = "azure-openai"
    AWS_BEDROCK = "aws-bedrock"
    OPENAI_COMPATIBLE = "openai-compatible"
    NONE = "none"


class HomeSettings(EnvSettings):
    """Where data lives."""

    home: Path = Field(
        Path(".data"),
        alias="PLATFORM_ENGINEER_HOME",
        description="Folder for databases, indexes and run files. One sub-folder per agent.",
    )

    def agent_home(self, agent: str) -> Path:
        """The folder of one agent, created when missing."""
        folder = self.home / agent
        folder.mkdir(parents=True, exist_ok=True)
        return folder


class ProviderSettings(EnvSettings):
    """Credentials and addresses of the model providers, under each provider's usual names."""

    openai_api_key: SecretStr | None = Field(
        None, alias="OPENAI_API_KEY", description="Key for OpenAI or an OpenAI-compatible server."
    )
    openai_base_url: str | None = Field(
        None, alias="OPENAI_BASE_URL", description="Address of an OpenAI-compatible server."
    )
    azure_openai_api_key: SecretStr | None = Field(
        None, alias="AZURE_OPENAI_API_KEY", description="Key for Azure OpenAI."
    )
    azure_openai_endpoint: str | None = Field(
        None, alias="AZURE_OPENAI_ENDPOINT", description="Address of the Azure OpenAI resource."
    )
    azure_openai_api_version: str = Field(
        "2024-10-21", alias="AZURE_OPENAI_API_VERSION", description="Azure OpenAI API version."
    )
    aws_region: str | None = Field(None, alias="AWS_REGION", description="Region of Amazon Bedrock.")
    aws_key: SecretStr | None = Field(None, alias="AWS_ACCESS_KEY_ID", description="Id of the AWS key.")
    aws_secret: SecretStr | None = Field(None, alias="AWS_SECRET_ACCESS_KEY", description="Its secret half.")
    aws_token: SecretStr | None = Field(None, alias="AWS_SESSION_TOKEN", description="A brief key's token.")
    aws_endpoint_url: str | None = Field(
        None, alias="AWS_ENDPOINT_URL_BEDROCK_RUNTIME", description="Bedrock runtime's address, if not AWS'."
    )


class LLMSettings(ProviderSettings):
    """Which chat model answers."""

    provider: ModelProvider = Field(
        ModelProvider.EMBEDDED,
        alias="LLM_PROVIDER",
        description="embedded (offline), openai, azure-openai, aws-bedrock or openai-compatible.",
    )
    model: str | None = Field(
        None,
        alias="LLM_MODEL",
        description="Model name; for Azure the deployment, for Bedrock the model id.",
    )
    temperature: float | None = Field(
        None, alias="LLM_TEMPERATURE", ge=0, le=2, description="Sampling temperature."
    )
    timeout_seconds: float = Field(
        120, alias="LLM_TIMEOUT_SECONDS", gt=0, description="Seconds to wait for one model answer."
    )
    max_retries: int = Field(
        2, alias="LLM_MAX_RETRIES", ge=0, le=10, description="Retries of one model call."
    )
    max_output_tokens: int | None = Field(
        None, alias="LLM_MAX_OUTPUT_TOKENS", gt=0, description="Longest answer, in tokens."
    )


class RecoverySettings(EnvSettings):
    """What happens when a model or a tool does not answer."""

    fallback_model: str | None = Field(
        None,
        alias="LLM_FALLBACK_MODEL",
        description="Model that is asked where LLM_MODEL is down or stays busy; none when unset.",
    )
    fallback_provider: ModelProvider | None = Field(
        None,
        alias="LLM_FALLBACK_PROVIDER",
        description="Provider of LLM_FALLBACK_MODEL, with that provider's own settings; LLM_PROVIDER when unset.",
    )
    model_wait_seconds: float = Field(
        60,
        alias="LLM_MAX_WAIT_SECONDS",
        ge=0,
        description="Longest wait in all for a provider that asks to slow down, for one model call.",
    )
    tool_timeout_seconds: float = Field(
        120,
        alias="TOOL_TIMEOUT_SECONDS",
        gt=0,
        description="Seconds that one tool call may take; delegations have SUB_AGENT_TIMEOUT_SECONDS.",
    )
    turn_timeout_seconds: float = Field(
        1800,
        alias="TURN_TIMEOUT_SECONDS",
        gt=0,
        description="Seconds that one turn may take in all, after which its task fails.",
    )


class BudgetSettings(EnvSettings):
    """What one task may use, sub-agents included; a caller may ask for less. No limit where unset."""

    tokens: int | None = Field(
        None, alias="TASK_BUDGET_TOKENS", gt=0, description="Input and output tokens of one task."
    )
    cost_usd: float | None = Field(
        None,
        alias="TASK_BUDGET_COST_USD",
        gt=0,
        description="US dollars of one task, as far as the prices of its models are known.",
    )
    steps: int | None = Field(None, alias="TASK_BUDGET_STEPS", gt=0, description="Model calls of one task.")
    seconds: float | None = Field(
        None,
        alias="TASK_BUDGET_SECONDS",
        gt=0,
        description="Seconds after which a turn ends with what it has; before TURN_TIMEOUT_SECONDS fails it.",
    )
    prices: str = Field(
        "",
        alias="MODEL_PRICES",
        description="Prices that add to or replace the known ones: model=input/output/cached in US dollars per "
        "million tokens, separated by commas.",
    )

    @field_validator("prices")
    @classmethod
    def _each_is_a_price(cls, value: str) -> str:
        price_table(value)
        return value


class EmbeddingSettings(ProviderSettings):
    """Which embedding model is used."""

    provider: EmbeddingsProvider = Field(
        EmbeddingsProvider.EMBEDDED,
        alias="EMBEDDINGS_PROVIDER",
        description="embedded (offline), openai, azure-openai, aws-bedrock, openai-compatible or none.",
    )
    model: str | None = Field(
        None, alias="EMBEDDINGS_MODEL", description="Embedding model, deployment or model id."
    )
    base_url: str | None = Field(
        None,
        alias="EMBEDDINGS_BASE_URL",
        description="Address of an OpenAI-compatible embedding server; else OPENAI_BASE_URL.",
    )


class ServerSettings(EnvSettings):
    """How an agent's server listens and what it accepts."""

    host: str = Field("127.0.0.1", alias="HOST", description="Address to listen on.")
    port: int | None = Field(
        None, alias="PORT", ge=0, le=65535, description="Port; the agent's own default when unset."
    )
    grpc_port: int | None = Field(
        None, alias="GRPC_PORT", ge=0, le=65535, description="gRPC port; no gRPC when unset."
    )
    public_url: str | None = Field(
        None, alias="PUBLIC_URL", description="Address that clients reach this agent at."
    )
    _public_url_is_one = field_validator("public_url")(http_address)
    allowed_hosts: str = Field(
        "",
        alias="ALLOWED_HOSTS",
        description="Host names accepted besides loopback and PUBLIC_URL, separated by commas.",
    )
    max_body_bytes: int = Field(
        4_194_304, alias="MAX_BODY_BYTES", gt=0, description="Largest request body, in bytes."
    )
    shutdown_grace_seconds: float = Field(
        5.0, alias="SHUTDOWN_GRACE_SECONDS", ge=0, description="Seconds that running turns get on SIGTERM."
    )
    shutdown_pause_seconds: float = Field(
        1.0,
        alias="SHUTDOWN_PAUSE_SECONDS",
        ge=0,
        description="Seconds of not ready before turns are refused.",
    )
    max_concurrent_turns: int = Field(
        64, alias="MAX_CONCURRENT_TURNS", gt=0, description="Turns that run at once; further ones wait."
    )
    max_waiting_turns: int = Field(
        128, alias="MAX_WAITING_TURNS", ge=0, description="Turns that may wait; past it requests get 503."
    )
    push_allow_private: bool = Field(
        False,
        alias="PUSH_ALLOW_PRIVATE",
        description="Allow push notifications to private and loopback addresses.",
    )


class SubAgentSettings(EnvSettings):
    """Which sub-agents the supervisor uses."""

    sub_agents: str | None = Field(
        None, alias="SUB_AGENTS", description="name=url pairs with commas; agents/agents.yaml when unset."
    )
    shares: str | None = Field(
        None,
        alias="SUB_AGENTS_SHARES",
        description="What agents are told besides their sub-task: name=nothing, request or results, with commas.",
    )
    refresh_seconds: float = Field(
        15, alias="SUB_AGENT_REFRESH_SECONDS", gt=0, description="Seconds between two looks at a card."
    )
    wait_seconds: float = Field(
        10, alias="SUB_AGENT_WAIT_SECONDS", ge=0, description="Wait at start for sub-agents not up yet."
    )
    timeout_seconds: float = Field(
        300, alias="SUB_AGENT_TIMEOUT_SECONDS", gt=0, description="Deadline of one delegation."
    )
    progress_seconds: float = Field(
        10, alias="SUB_AGENT_PROGRESS_SECONDS", gt=0, description="Silence after which progress is shown."
    )
    largest_answer: int = Field(
        8_388_608,
        alias="SUB_AGENT_MAX_ANSWER_BYTES",
        gt=0,
        description="Largest answer of a sub-agent in bytes, as it is sent; one that is larger is stopped.",
    )
    shown: int = Field(
        12,
        alias="SUB_AGENTS_SHOWN",
        gt=0,
        description="Most sub-agents that the model is offered at once: those that fit the conversation best.",
    )
    history_turns: int = Field(
        3,
        alias="SUB_AGENT_HISTORY_TURNS",
        ge=0,
        le=10,
        description="Turns that a sub-agent is told of, 200 characters of each remark; 0 tells none.",
    )
    synthesis_turns: int = Field(
        3,
        alias="MAX_HISTORY_FOR_SYNTHESIS",
        ge=0,
        le=10,
        description="Turns that an answer made of saved results is told of, 200 characters of each remark.",
    )


class McpSettings(EnvSettings):
    """Which MCP servers' tools an agent offers besides its own."""

    servers: str | None = Field(
        None,
        alias="MCP_SERVERS",
        description="File that describes MCP servers, YAML or JSON, or that text itself (docs/mcp.md); none when unset.",
    )
    start_seconds: float = Field(
        5,
        alias="MCP_START_SECONDS",
        ge=0,
        description="Longest wait for MCP servers at start; those that answer later join then.",
    )
    retry_seconds: float = Field(
        1,
        alias="MCP_RETRY_SECONDS",
        gt=0,
        description="Pause before a lost MCP server is tried again; doubles up to half a minute.",
    )
