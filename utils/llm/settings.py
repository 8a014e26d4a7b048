"""Settings of the questions that are asked about a model before it is used."""

from __future__ import annotations

from pydantic import Field

from utils.environment import EnvSettings


class ModelCheckSettings(EnvSettings):
    """Whether the model is tried before it is needed."""

    at_start: bool = Field(
        True,
        alias="LLM_CHECK",
        description="Whether `up` and `chat` ask the model for one tool call while they start. `doctor` always does.",
    )
