"""Every shared setting, read from the environment once, at the edge.

A group of settings is a frozen pydantic model whose fields carry the environment variable as
alias. `load()` reads the groups that a process needs; nothing else reads the environment, so
tests pass a mapping. An agent with settings of its own subclasses `EnvSettings` in its folder.
An empty value counts as unset (compose files and charts write `NAME=` for "default").
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

from pydantic import Field, SecretStr, field_validator

from utils.atomic_file import writing
from utils.environment import EnvSettings, own_environment, process_environment
from utils.protection_settings import ProtectionSettings
from utils.setting_values import EFFORTS, choices, header_fields, http_address, json_object

__all__ = [
    "EmbeddingSettings",
    "EmbeddingsProvider",
    "EnvSettings",
    "HomeSettings",
    "LLMSettings",
    "McpSettings",
    "ModelProvider",
    "ProviderSettings",
    "RecoverySettings",
    "ServerSettings",
    "SubAgentSettings",
    "own_environment",
    "process_environment",
]


class ModelProvider(StrEnum):
    """Where chat models come from. Each has a row in `utils/model_providers.py` and a client in `utils/llm/factory.py`."""

    EMBEDDED = "embedded"
    OPENAI = "openai"
    AZURE_OPENAI = "azure-openai"
    AWS_BEDROCK = "aws-bedrock"
    OPENAI_COMPATIBLE = "openai-compatible"
    ANTHROPIC = "anthropic"
    GOOGLE_GEMINI = "google-gemini"
    GCP_VERTEXAI = "gcp-vertexai"


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
        """The folder of one agent, created when missing; `StorageError` where that fails."""
        with writing(folder := self.home / agent):
            folder.mkdir(parents=True, exist_ok=True)
        return folder


class ProviderSettings(EnvSettings):
    """Keys and addresses of OpenAI, Azure OpenAI and Amazon Bedrock."""

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
    aws_key: SecretStr | None = Field(
        None, alias="AWS_ACCESS_KEY_ID", description="Id of the AWS access key."
    )
    aws_secret: SecretStr | None = Field(
        None, alias="AWS_SECRET_ACCESS_KEY", description="Secret of that access key."
    )
    aws_token: SecretStr | None = Field(
        None, alias="AWS_SESSION_TOKEN", description="Session token of temporary AWS credentials."
    )
    aws_endpoint_url: str | None = Field(
        None,
        alias="AWS_ENDPOINT_URL_BEDROCK_RUNTIME",
        description="Address of the Bedrock runtime, if not that of AWS.",
    )


class LLMSettings(ProviderSettings):
    """Which chat model answers, with the keys of Anthropic and Google."""

    anthropic_api_key: SecretStr | None = Field(
        None, alias="ANTHROPIC_API_KEY", description="Key for Anthropic."
    )
    anthropic_base_url: str | None = Field(
        None, alias="ANTHROPIC_BASE_URL", description="Address of Anthropic's API, if not Anthropic's own."
    )
    google_api_key: SecretStr | None = Field(
        None, alias="GOOGLE_API_KEY", description="Key for the Gemini API, or for Vertex AI in express mode."
    )
    google_base_url: str | None = Field(
        None, alias="GOOGLE_GEMINI_BASE_URL", description="Address of Gemini's API, if not Google's own."
    )
    google_project: str | None = Field(
        None,
        alias="GOOGLE_CLOUD_PROJECT",
        description="Project for Vertex AI, with Google's own credentials.",
    )
    google_location: str = Field(
        "global", alias="GOOGLE_CLOUD_LOCATION", description="Location of the models on Vertex AI."
    )
    provider: ModelProvider = Field(
        ModelProvider.EMBEDDED,
        alias="LLM_PROVIDER",
        description=f"{choices(ModelProvider, embedded='offline')}.",
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
        120, alias="LLM_TIMEOUT_SECONDS", gt=0, description="Seconds to the first token of a model's answer."
    )
    stream_timeout_seconds: float = Field(
        60, alias="LLM_STREAM_TIMEOUT_SECONDS", gt=0, description="Seconds between two tokens of an answer."
    )
    max_retries: int = Field(
        3, alias="LLM_MAX_RETRIES", ge=0, le=10, description="Most retries of one model call, for any reason."
    )
    show_reasoning: bool = Field(
        False, alias="SHOW_REASONING", description="Show the model's reasoning; never part of an answer."
    )
    max_output_tokens: int | None = Field(
        None, alias="LLM_MAX_OUTPUT_TOKENS", gt=0, description="Longest answer, in tokens."
    )
    reasoning_effort: str | None = Field(
        None,
        alias="LLM_REASONING_EFFORT",
        pattern=f"^({'|'.join(EFFORTS)})$",
        description="How long a reasoning model thinks, as far as the model accepts it: none, minimal, low, medium, high,"
        " xhigh or max.",
    )
    extra_body: str | None = Field(
        None,
        alias="LLM_EXTRA_BODY",
        description="JSON object with further fields of each model request, as the server knows them.",
    )
    extra_headers: SecretStr | None = Field(
        None, alias="LLM_EXTRA_HEADERS", description="JSON object with further headers of each model request."
    )
    requests_per_minute: int | None = Field(
        None,
        alias="LLM_REQUESTS_PER_MINUTE",
        gt=0,
        description="Most model requests a minute of all agents together; no limit when unset.",
    )
    requests_share: float = Field(
        1.0,
        alias="LLM_REQUESTS_SHARE",
        gt=0,
        le=1,
        description="Share of LLM_REQUESTS_PER_MINUTE that this process has; `up` and `chat` divide it equally.",
    )

    @field_validator("extra_body")
    @classmethod
    def _body_is_an_object(cls, value: str | None) -> str | None:
        json_object(value)
        return value

    @field_validator("extra_headers")
    @classmethod
    def _headers_are_text(cls, value: SecretStr | None) -> SecretStr | None:
        header_fields(value.get_secret_value() if value else None)
        return value


class RecoverySettings(EnvSettings):
    """What happens when a model or a tool does not answer."""

    fallback_model: str | None = Field(
        None,
        alias="LLM_FALLBACK_MODEL",
        description="Model that is asked if LLM_MODEL is down or stays busy; none when unset.",
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


class EmbeddingSettings(ProviderSettings):
    """Which embedding model is used."""

    provider: EmbeddingsProvider = Field(
        EmbeddingsProvider.EMBEDDED,
        alias="EMBEDDINGS_PROVIDER",
        description=f"{choices(EmbeddingsProvider, embedded='offline')}.",
    )
    model: str | None = Field(
        None, alias="EMBEDDINGS_MODEL", description="Embedding model, deployment or model id."
    )
    base_url: str | None = Field(
        None,
        alias="EMBEDDINGS_BASE_URL",
        description="Address of an OpenAI-compatible embedding server; else OPENAI_BASE_URL.",
    )
    timeout_seconds: float = Field(
        30,
        alias="EMBEDDINGS_TIMEOUT_SECONDS",
        gt=0,
        description="Seconds that one request to an embedding server may take, retries included.",
    )


class ServerSettings(ProtectionSettings):
    """How an agent's server listens and what it accepts."""

    host: str = Field("127.0.0.1", alias="HOST", description="Address to listen on.")
    port: int | None = Field(
        None, alias="PORT", ge=0, le=65535, description="Port; the agent's own default when unset."
    )
    grpc_port: int | None = Field(
        None, alias="GRPC_PORT", ge=0, le=65535, description="gRPC port; no gRPC when unset."
    )
    metrics_port: int | None = Field(
        None, alias="METRICS_PORT", ge=0, le=65535, description="Port of /metrics and probes; none if unset."
    )
    public_url: str | None = Field(
        None, alias="PUBLIC_URL", description="Address at which clients reach this agent."
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
        128, alias="MAX_WAITING_TURNS", ge=0, description="Turns that may wait; beyond that requests get 503."
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
        15,
        alias="SUB_AGENT_REFRESH_SECONDS",
        gt=0,
        description="Seconds between two reads of a sub-agent's card.",
    )
    wait_seconds: float = Field(
        10, alias="SUB_AGENT_WAIT_SECONDS", ge=0, description="Wait at start for sub-agents not up yet."
    )
    timeout_seconds: float = Field(
        300, alias="SUB_AGENT_TIMEOUT_SECONDS", gt=0, description="Deadline of one delegation."
    )
    restart_seconds: float = Field(
        20,
        alias="SUB_AGENT_RESTART_SECONDS",
        ge=0,
        description="How long a new message waits for a sub-agent that was up and cannot be reached, as during its "
        "restart. A sub-agent with an open task is waited for 60 seconds.",
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
        description="Turns of the conversation that a sub-agent gets, 200 characters of each message; none with 0.",
    )
    synthesis_turns: int = Field(
        3,
        alias="MAX_HISTORY_FOR_SYNTHESIS",
        ge=0,
        le=10,
        description="Turns in the prompt of an answer that is made of saved results, 200 characters of each message.",
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
    max_answer_bytes: int = Field(
        16 * 1024 * 1024,
        alias="MCP_MAX_ANSWER_BYTES",
        ge=65_536,
        description="Largest message that is accepted from an MCP server, in bytes, unpacked; a call with a larger answer"
        " fails.",
    )
