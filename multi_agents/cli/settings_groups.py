"""The shared groups of settings, so that a wrong value is told before any process is started."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from utils.context.settings import ContextSettings, PinSettings
from utils.errors import SettingsError
from utils.observability.settings import LogSettings, TelemetrySettings
from utils.settings import (
    EmbeddingSettings,
    EnvSettings,
    HomeSettings,
    LLMSettings,
    ServerSettings,
    SubAgentSettings,
)

GROUPS: Mapping[str, type[EnvSettings]] = {
    "data folder": HomeSettings,
    "logging": LogSettings,
    "telemetry": TelemetrySettings,
    "model": LLMSettings,
    "embeddings": EmbeddingSettings,
    "context": ContextSettings,
    "standing constraints": PinSettings,
    "server": ServerSettings,
    "sub-agents": SubAgentSettings,
}


def wrong_settings() -> Iterator[tuple[str, SettingsError]]:
    """Each group that cannot be read, by its name, with the reason."""
    for name, group in GROUPS.items():
        try:
            group.load()
        except SettingsError as error:
            yield name, error
