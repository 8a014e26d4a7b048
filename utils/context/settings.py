"""Settings of context management and of the search for constraints."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pydantic import Field, model_validator

from utils.context.policy import PRESETS
from utils.setting_values import choices
from utils.settings import EnvSettings

SMALLEST_WINDOW = 1_024
"""Smallest accepted window. Prompt and tools take about 600 tokens in the RAG agent and 4,200 in the GitHub agent, and a
quarter of the window is reserved for the answer."""


class ContextSettings(EnvSettings):
    """Size limits of model requests, and how requests are made to fit.

    Limits that are not positive integers count as unset. `ignored` has their names, for a warning
    at start.
    """

    policy: str = Field(
        "standard",
        alias="CONTEXT_POLICY",
        description=f"{choices(PRESETS)}: a set of thresholds (docs/context.md).",
        pattern=f"^({'|'.join(PRESETS)})$",
    )
    window: int | None = Field(
        None,
        alias="MAX_CONTEXT_TOKENS",
        ge=SMALLEST_WINDOW,
        description="Context window in tokens, for every provider.",
    )
    bedrock_window: int | None = Field(
        None,
        alias="AWS_BEDROCK_MAX_CONTEXT_TOKENS",
        ge=SMALLEST_WINDOW,
        description="Context window on Amazon Bedrock.",
    )
    openai_window: int | None = Field(
        None,
        alias="OPENAI_MAX_CONTEXT_TOKENS",
        ge=SMALLEST_WINDOW,
        description="Context window on OpenAI and compatible servers.",
    )
    azure_window: int | None = Field(
        None,
        alias="AZURE_OPENAI_MAX_CONTEXT_TOKENS",
        ge=SMALLEST_WINDOW,
        description="Context window on Azure OpenAI.",
    )
    anthropic_window: int | None = Field(
        None,
        alias="ANTHROPIC_MAX_CONTEXT_TOKENS",
        ge=SMALLEST_WINDOW,
        description="Context window on Anthropic.",
    )
    gemini_window: int | None = Field(
        None,
        alias="GOOGLE_GEMINI_MAX_CONTEXT_TOKENS",
        ge=SMALLEST_WINDOW,
        description="Context window on Google Gemini.",
    )
    vertex_window: int | None = Field(
        None,
        alias="GCP_VERTEXAI_MAX_CONTEXT_TOKENS",
        ge=SMALLEST_WINDOW,
        description="Context window on Vertex AI.",
    )
    output_reserve: int | None = Field(
        None,
        alias="CONTEXT_OUTPUT_RESERVE",
        gt=0,
        description="Tokens reserved for the answer; min(16384, a quarter of the window) when unset.",
    )
    summarise_at: float | None = Field(
        None,
        alias="CONTEXT_SUMMARISE_AT",
        gt=0,
        le=1,
        description="Share of the input budget at which the conversation is summarised; the policy's value when unset. "
        "docs/context.md says when a summary is written earlier.",
    )
    topic_at: float | None = Field(
        None,
        alias="CONTEXT_TOPIC_AT",
        gt=0,
        le=1,
        description="Share of the input budget from which the earlier conversation is summarised after an answer in which"
        " the user changed the topic. When unset: 0.4 with the policy standard, else never. 1 means never.",
    )
    keep_messages: int | None = Field(
        None,
        alias="MIN_MESSAGES_TO_KEEP",
        description="Recent messages that a summary leaves unchanged, if they fit; the policy's value when unset.",
    )
    model_summaries: bool = Field(
        True,
        alias="ENABLE_AUTO_COMPRESSION",
        description="Whether a model writes summaries; if not, an extract replaces what is left out.",
    )
    max_tool_output: int = Field(
        10_000,
        alias="MAX_TOOL_OUTPUT_SIZE",
        gt=0,
        description="Longest tool result that is not truncated, in characters; 50000 suits large models.",
    )
    summary_model: str | None = Field(
        None,
        alias="CONTEXT_SUMMARY_MODEL",
        description="Model of the same provider that writes summaries; the chat model when unset.",
    )
    summary_prompt_file: Path | None = Field(
        None,
        alias="CONTEXT_SUMMARY_PROMPT_FILE",
        description="File with the prompt for summaries; {words} in it is replaced by their most words.",
    )
    max_turns: int | None = Field(
        None,
        alias="MAX_CONVERSATION_TURNS",
        gt=0,
        description="Most earlier turns in a request; 10 with CONTEXT_POLICY=turns, otherwise no limit.",
    )
    compress_ahead: bool = Field(
        False,
        alias="CONTEXT_COMPRESS_AHEAD",
        description="Whether search results are compressed as soon as one more of their average size would not fit; "
        "this invalidates the prompt cache earlier.",
    )
    system_as_user: bool = Field(
        False,
        alias="LLM_SYSTEM_AS_USER",
        description="Whether the system message is repeated as the first user message, for models that ignore it.",
    )
    model_calls_per_turn: int = Field(
        25,
        alias="MAX_MODEL_CALLS_PER_TURN",
        gt=0,
        description="Most model calls in one turn; then the turn ends.",
    )
    ignored: tuple[str, ...] = ()

    @model_validator(mode="before")
    @classmethod
    def _ignore_bad_limits(cls, value: Mapping[str, object]) -> dict[str, object]:
        kept, ignored = dict(value), []
        for name in value:
            is_limit = name.endswith("MAX_CONTEXT_TOKENS") or name == "MIN_MESSAGES_TO_KEEP"
            if is_limit and not (str(value[name]).isdigit() and int(str(value[name])) > 0):
                ignored.append(name)
                del kept[name]
        return {**kept, "ignored": tuple(ignored)}


class ConstraintSettings(EnvSettings):
    """Whether a model looks for rules in the user's messages."""

    with_model: bool = Field(
        True,
        alias="CONTEXT_PINS_BY_MODEL",
        description="Whether the model is asked, after an answer, which constraints the user's message states; "
        "the offline model is never asked.",
    )
    seconds: float = Field(
        30,
        alias="CONTEXT_PINS_SECONDS",
        gt=0,
        description="Time limit of that request in seconds.",
    )
