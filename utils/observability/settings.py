"""Settings of logs and traces."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field, SecretStr, field_validator

from utils.setting_values import http_address
from utils.settings import EnvSettings


class LogLevel(StrEnum):
    """The lowest level that is logged."""

    DEBUG = "DEBUG"
    INFO = "INFO"
    WARNING = "WARNING"
    ERROR = "ERROR"


class LogFormat(StrEnum):
    """Format of log lines."""

    AUTO = "auto"
    CONSOLE = "console"
    JSON = "json"


class LogSettings(EnvSettings):
    """Settings of logs."""

    level: LogLevel = Field(
        LogLevel.INFO, alias="LOG_LEVEL", description="DEBUG, INFO, WARNING or ERROR; in any case."
    )
    format: LogFormat = Field(
        LogFormat.AUTO,
        alias="LOG_FORMAT",
        description="console, json, or auto: console on a terminal and json elsewhere.",
    )

    @field_validator("level", mode="before")
    @classmethod
    def _in_any_case(cls, value: object) -> object:
        return value.upper() if isinstance(value, str) else value


class TelemetrySettings(EnvSettings):
    """Settings of the export of traces, under OpenTelemetry's usual names."""

    endpoint: str | None = Field(
        None,
        alias="OTEL_EXPORTER_OTLP_ENDPOINT",
        description="Address of an OpenTelemetry collector that speaks OTLP over HTTP; no traces are sent when unset.",
    )
    headers: SecretStr | None = Field(
        None,
        alias="OTEL_EXPORTER_OTLP_HEADERS",
        description="Headers for the collector: name=value pairs separated by commas.",
    )
    _endpoint_is_an_address = field_validator("endpoint")(http_address)

    @field_validator("headers")
    @classmethod
    def _each_has_a_name(cls, value: SecretStr | None) -> SecretStr | None:
        pairs = [] if value is None else value.get_secret_value().split(",")
        if not all(pair.partition("=")[0].strip() and "=" in pair for pair in pairs):
            raise ValueError("write each header as name=value")
        return value

    sdk_spans: bool = Field(
        False,
        alias="OTEL_INSTRUMENTATION_A2A_SDK_ENABLED",
        description="Whether the A2A SDK's own spans are made as well; they cost more than the events that they measure.",
    )
