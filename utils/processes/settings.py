"""Settings of how processes are started."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from utils.settings import EnvSettings


class StartMethod(StrEnum):
    """How `chat` and `up` start the processes of the service."""

    FORK = "fork"
    SPAWN = "spawn"


class ProcessSettings(EnvSettings):
    """How `chat` and `up` start the supervisor and the local agents."""

    start_method: StartMethod = Field(
        StartMethod.FORK,
        alias="PROCESS_START_METHOD",
        description="fork (from one process that has imported what they share; Linux, elsewhere as spawn) or "
        "spawn (each imports for itself).",
    )
