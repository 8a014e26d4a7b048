"""Who may call an agent, and how callers are authenticated."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

from pydantic import Field, SecretStr, field_validator

from utils.auth.secret_file import secret_in
from utils.settings import EnvSettings

ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
"""Signatures that may be allowed: those with a public key."""


class AuthMode(StrEnum):
    """How callers are authenticated."""

    NONE = "none"
    API_KEY = "api-key"
    OIDC = "oidc"


class AuthSettings(EnvSettings):
    """Who may call."""

    mode: AuthMode | None = Field(
        None,
        alias="AUTH_MODE",
        description="How callers log in: none, api-key or oidc. When unset it is none, and HOST must be loopback.",
    )
    issuers: str = Field(
        "",
        alias="AUTH_ISSUERS",
        description="Addresses of the OpenID providers whose tokens are accepted, exactly as their tokens name them, with"
        " commas.",
    )
    audience: str | None = Field(
        None,
        alias="AUTH_AUDIENCE",
        description="Audience that a token must name; the agent's name when unset.",
    )
    algorithms: str = Field(
        "RS256,ES256,EdDSA",
        alias="AUTH_ALGORITHMS",
        description="Signature algorithms of tokens that are accepted, with commas.",
    )
    tenant_claim: str | None = Field(
        None,
        alias="AUTH_TENANT_CLAIM",
        description="Claim of a token that names the tenant; no tenants when unset.",
    )
    leeway_seconds: float = Field(
        30, alias="AUTH_LEEWAY_SECONDS", ge=0, le=300, description="Seconds that clocks may differ by."
    )
    token_type: str | None = Field(
        None,
        alias="AUTH_TOKEN_TYPE",
        description="Type that a token's header must name, such as at+jwt; any but that of an ID token when unset.",
    )
    keys_file: Path | None = Field(
        None,
        alias="AUTH_KEYS_FILE",
        description="File with the digests of API keys; keys.json in PLATFORM_ENGINEER_HOME when unset.",
    )
    service_key: SecretStr | None = Field(
        None,
        alias="AUTH_SERVICE_KEY",
        description="Private key, as JWK, with which a supervisor signs its tokens; made in PLATFORM_ENGINEER_HOME when unset.",
    )
    service_public_key: str | None = Field(
        None,
        alias="AUTH_SERVICE_PUBLIC_KEY",
        description="Public half, as JWK, of the key whose tokens an agent accepts from its supervisor.",
    )
    exchange_client_id: str | None = Field(
        None,
        alias="AUTH_EXCHANGE_CLIENT_ID",
        description="Client ID of the supervisor at the first provider of AUTH_ISSUERS, for the exchange of tokens.",
    )
    exchange_client_secret: SecretStr | None = Field(
        None,
        alias="AUTH_EXCHANGE_CLIENT_SECRET",
        description="Secret of that client, for the supervisor only.",
    )
    exchange_actor: str | None = Field(
        None,
        alias="AUTH_EXCHANGE_ACTOR",
        description="Actor that exchanged tokens name when your supervisor sends them: an agent treats them like the "
        "tokens that the supervisor signs. AUTH_EXCHANGE_CLIENT_ID when unset.",
    )
    answer_key: SecretStr | None = Field(
        None,
        alias="AUTH_ANSWER_KEY",
        description="Secret that proves answers without authentication; the same on all replicas. Made at the first start when unset: in a file, or in DATABASE_URL for all replicas.",
    )
    client_id: str | None = Field(
        None,
        alias="AUTH_CLIENT_ID",
        description="Client ID of `platform-engineer login` at the OpenID provider.",
    )
    token: SecretStr | None = Field(
        None, alias="PLATFORM_ENGINEER_TOKEN", description="API key or token that the command line sends."
    )

    @field_validator("algorithms")
    @classmethod
    def _known_algorithms(cls, value: str) -> str:
        if not _names(value) or not set(_names(value)) <= set(ALGORITHMS):
            raise ValueError(f"choose among {', '.join(ALGORITHMS)}")
        return value

    @property
    def on(self) -> bool:
        """Whether callers have to authenticate."""
        return self.mode in (AuthMode.API_KEY, AuthMode.OIDC)

    @property
    def issuer_list(self) -> tuple[str, ...]:
        """The providers."""
        return _names(self.issuers)

    @property
    def algorithm_list(self) -> tuple[str, ...]:
        """The signatures."""
        return _names(self.algorithms)

    @property
    def supervisor_actor(self) -> str:
        """The actor that exchanged tokens name when our supervisor sends them; empty if not known."""
        return self.exchange_actor or self.exchange_client_id or ""

    def answer_key_or(self, file: Path) -> bytes:
        """The key of the secrets of answers; that of a file where none is set."""
        return self.answer_key.get_secret_value().encode() if self.answer_key else secret_in(file)


class TrustSettings(EnvSettings):
    """Which sub-agents are your own, and which are foreign."""

    trust: str = Field(
        "",
        alias="SUB_AGENTS_TRUST",
        description="Whose agents are: name=own or foreign, with commas; those that are not named are foreign. When "
        "unset, agents with shares results are own and the others foreign.",
    )
    exchange: str = Field(
        "",
        alias="SUB_AGENTS_EXCHANGE",
        description="Agents that get a token of the user, exchanged at the provider: name=audience, then scopes with "
        "blanks; with commas between agents.",
    )
    origins: str = Field(
        "",
        alias="SUB_AGENT_ORIGINS",
        description="Addresses that cards of sub-agents may name besides the one where they are configured, with commas.",
    )

    card_keys: str = Field(
        "",
        alias="SUB_AGENTS_CARD_KEYS",
        description="Files with the public keys (a JWK set) of agents whose cards must be signed: name=path, with commas.",
    )

    @property
    def origin_list(self) -> tuple[str, ...]:
        """The addresses."""
        return _names(self.origins)


def _names(value: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in value.split(",") if name.strip())
