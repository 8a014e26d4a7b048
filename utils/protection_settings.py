"""TLS and the limits of an agent's server."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field

from utils.environment import EnvSettings


class ProtectionSettings(EnvSettings):
    """TLS, connections and limits of an agent's server."""

    grpc_tls_cert_file: Path | None = Field(
        None,
        alias="GRPC_TLS_CERT_FILE",
        description="File with the certificate that gRPC is served with, and those above it, as PEM; no TLS when unset.",
    )
    grpc_tls_key_file: Path | None = Field(
        None, alias="GRPC_TLS_KEY_FILE", description="File with the key of that certificate, as PEM."
    )
    grpc_tls_client_ca_file: Path | None = Field(
        None,
        alias="GRPC_TLS_CLIENT_CA_FILE",
        description="File with certificates, as PEM: only gRPC clients with a certificate of one of them are let in.",
    )
    tls_cert_file: Path | None = Field(
        None,
        alias="TLS_CERT_FILE",
        description="File with the certificate that HTTP is served with, and those above it, as PEM; no TLS when unset.",
    )
    tls_key_file: Path | None = Field(
        None, alias="TLS_KEY_FILE", description="File with the key of that certificate, as PEM."
    )
    tls_client_ca_file: Path | None = Field(
        None,
        alias="TLS_CLIENT_CA_FILE",
        description="File with certificates, as PEM: only HTTP clients with a certificate of one of them are let in.",
    )
    header_timeout_seconds: float = Field(
        20.0,
        alias="HEADER_TIMEOUT_SECONDS",
        gt=0,
        description="Longest time until the headers of a request have arrived, and the first bytes of a gRPC connection.",
    )
    body_timeout_seconds: float = Field(
        30.0,
        alias="BODY_TIMEOUT_SECONDS",
        gt=0,
        description="Longest time from its headers until the body of a request has arrived; beyond that 408.",
    )
    write_timeout_seconds: float = Field(
        60.0,
        alias="WRITE_TIMEOUT_SECONDS",
        gt=0,
        description="Longest time in which a client takes nothing of the answer or stream that is there for it; past it the connection is cut off, and over gRPC the stream ended.",
    )
    max_connections: int = Field(
        1000,
        alias="MAX_CONNECTIONS",
        ge=0,
        description="HTTP connections at once, and calls over gRPC, at each replica; beyond that 503. Never more than "
        "half of the files that the process may open; 0 for no other limit.",
    )
    connections_per_address: int = Field(
        0,
        alias="CONNECTIONS_PER_ADDRESS",
        ge=0,
        description="HTTP connections of one address at once; beyond that 503. 0 means no limit: leave it behind a proxy,"
        " where all connections come from the proxy's address.",
    )
    caller_requests_per_minute: int | None = Field(
        None,
        alias="CALLER_REQUESTS_PER_MINUTE",
        ge=0,
        description="Requests of one caller in a minute, at each replica; beyond that 429. 1200 with AUTH_MODE, else no "
        "limit (0).",
    )
    caller_open_requests: int | None = Field(
        None,
        alias="CALLER_OPEN_REQUESTS",
        ge=0,
        description="Requests of one caller at once, open streams included; beyond that 429. 64 with AUTH_MODE, else no "
        "limit (0).",
    )
    caller_turns: int | None = Field(
        None,
        alias="CALLER_TURNS",
        ge=0,
        description="Turns of one caller that run or wait; beyond that 429. With AUTH_MODE three quarters of "
        "MAX_CONCURRENT_TURNS of all replicas, else no limit (0).",
    )
    caller_turns_mb: int | None = Field(
        None,
        alias="CALLER_TURNS_MB",
        ge=0,
        description="MiB of the messages of one caller's turns that run or wait; beyond that 429, but one message is "
        "always accepted. 16 with AUTH_MODE, else no limit (0).",
    )
    fair_turns: bool | None = Field(
        None,
        alias="FAIR_TURNS",
        description="Share the turns that run at once among the callers that want one, and keep the last places for callers that "
        "have none. On with AUTH_MODE, else off.",
    )
    disk_reserve_mb: int = Field(
        64,
        alias="DISK_RESERVE_MB",
        ge=0,
        description="MiB of the volume of PLATFORM_ENGINEER_HOME that are kept for short messages: with less left, larger ones are refused "
        "and /readyz says so. 0 for none.",
    )
    push_allow_private: bool = Field(
        False,
        alias="PUSH_ALLOW_PRIVATE",
        description="Allow push notifications to private and loopback addresses.",
    )


class ClientTlsSettings(EnvSettings):
    """TLS certificates that the supervisor and the chat show to agents and accept."""

    tls_client_cert_file: Path | None = Field(
        None,
        alias="TLS_CLIENT_CERT_FILE",
        description="File with the certificate that is shown to agents which ask for one, and those above it, as PEM.",
    )
    tls_client_key_file: Path | None = Field(
        None, alias="TLS_CLIENT_KEY_FILE", description="File with the key of that certificate, as PEM."
    )
    tls_ca_file: Path | None = Field(
        None,
        alias="TLS_CA_FILE",
        description="File with certificates of authorities, as PEM: agents with a certificate of one of them are trusted,"
        " besides those that the machine trusts.",
    )
