"""How long conversations are kept."""

from __future__ import annotations

from pydantic import Field

from utils.settings import EnvSettings


class RetentionSettings(EnvSettings):
    """When an agent deletes conversations by itself."""

    days: float = Field(
        0,
        alias="RETENTION_DAYS",
        ge=0,
        description="Days after its last answer that a conversation is deleted with all that belongs to it; 0 keeps all.",
    )
