"""Settings of long-term memory."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field, field_validator

from utils.setting_values import choices
from utils.settings import EnvSettings


class Switch(StrEnum):
    """Whether something is done."""

    OFF = "off"
    ON = "on"


class MemorySettings(EnvSettings):
    """What is kept of a user beyond a conversation."""

    switch: Switch = Field(
        Switch.OFF,
        alias="LONG_TERM_MEMORY",
        description=f"{choices(Switch)}: what a conversation taught about a user is known in the user's next ones "
        "(docs/memory.md). It needs AUTH_MODE.",
    )
    items: int = Field(
        200,
        alias="LONG_TERM_MEMORY_ITEMS",
        gt=0,
        description="Most memories of one user; those that were not renewed for the longest time are deleted first.",
    )
    tokens: int = Field(
        500,
        alias="LONG_TERM_MEMORY_TOKENS",
        ge=0,
        description="Most tokens of memories in a model request; with 0 they are only found by search.",
    )
    seconds: float = Field(
        30,
        alias="LONG_TERM_MEMORY_SECONDS",
        gt=0,
        description="Time limit of the model request after an answer that looks for something to remember.",
    )

    @field_validator("switch", mode="before")
    @classmethod
    def _as_yaml_has_it(cls, value: object) -> object:
        """`on` without quotes is `true` in YAML."""
        return {"true": Switch.ON, "false": Switch.OFF}.get(str(value).lower(), value)

    @property
    def on(self) -> bool:
        """Whether anything new is kept or shown."""
        return self.switch is Switch.ON
