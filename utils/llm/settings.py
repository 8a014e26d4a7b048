"""Settings of the check of a model at start, and of tool calls."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from utils.environment import EnvSettings


class ModelCheckSettings(EnvSettings):
    """Whether the model is tested at the start."""

    at_start: bool = Field(
        True,
        alias="LLM_CHECK",
        description="Whether `up` and `chat` ask the model for one tool call while they start. `doctor` always does.",
    )


class ToolCalls(StrEnum):
    """How tool calls are requested from a model."""

    NATIVE = "native"
    JSON = "json"


class ToolCallSettings(EnvSettings):
    """How the chat model is asked for tool calls."""

    calls: ToolCalls = Field(
        ToolCalls.NATIVE,
        alias="LLM_TOOL_CALLS",
        description="How the model calls tools: native, or json for small models that do not call tools by themselves: each "
        "step is a decision that the server holds to a JSON schema, which costs one more request for each answer.",
    )
