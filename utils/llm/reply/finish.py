"""Why a model's reply ended, from the finish reason in any provider's spelling. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from langchain_core.messages import AIMessage

from utils.errors import ContentFiltered

_REASONS = ("finish_reason", "stopReason", "stop_reason", "native_finish_reason")
_SPELLINGS = {
    "cut": ("length", "max_tokens", "max_output_tokens", "model_length", "model_context_window_exceeded"),
    "filtered": (
        "content_filter",  # OpenAI and Azure; Bedrock says content_filtered
        "guardrail_intervened",  # Bedrock
        "refusal",  # Anthropic
        "safety",  # Gemini
        "prohibited_content",
        "recitation",
        "blocklist",
        "spii",
        "image_safety",
        "language",
        "sensitive",  # GLM
    ),
    "failed": (
        "error",  # OpenRouter: the provider behind it failed
        "network_error",
        "abort",  # vLLM
        "malformed_function_call",  # Gemini
        "unexpected_tool_call",
        "malformed_response",
        "missing_thought_signature",
        "malformed_model_output",  # Bedrock
        "insufficient_system_resource",  # DeepSeek
    ),
    "repeated": ("repetition",),  # vLLM's own guard
}


_OF_THE_TURN = ("refusal", "guardrail_intervened")
_BY_PROVIDERS = ("stop_reason", "stopReason", "native_finish_reason")
"""Not `finish_reason`, which a refusal of the model itself gets here, after which OpenAI's models go on."""


class TurnFiltered(ContentFiltered):
    """The provider answers with status 200 that it does not go on from this turn, so that it refuses each later request with it too."""


class Ending(StrEnum):
    """Why an answer ended."""

    WHOLE = "whole"
    CUT = "cut"
    FILTERED = "filtered"
    FAILED = "failed"
    REPEATED = "repeated"


def prompt_blocked(message: AIMessage) -> bool:
    """Whether the provider's filter stopped the request itself: Gemini answers such a one with status 200 and nothing."""
    return _blocked(message.response_metadata)


def _blocked(metadata: Mapping[str, Any]) -> bool:
    feedback = metadata.get("prompt_feedback")
    return isinstance(feedback, dict) and bool(feedback.get("block_reason"))


def tells_end(metadata: Mapping[str, Any]) -> bool:
    """Whether the metadata of a piece of an answer says that the answer has ended, for whatever reason.

    OpenAI's Chat Completions API and Gemini say it with `finish_reason`, Anthropic with `stop_reason`, Bedrock with
    `stopReason`, OpenAI's Responses API with the `status` of the response that its last event holds.
    """
    return _blocked(metadata) or any(metadata.get(name) for name in (*_REASONS, "status"))


def turn_refused(message: AIMessage) -> bool:
    """Whether an answer of status 200 ended with a refusal of the turn: Anthropic's classifiers and Bedrock's guardrails say so."""
    said = [message.response_metadata.get(name) for name in _BY_PROVIDERS]
    return any(isinstance(each, str) and each.lower().startswith(_OF_THE_TURN) for each in said)


def ending_of(message: AIMessage) -> Ending:
    """The finish reason of an answer; `WHOLE` where the provider gives none: streams without an end do not come this far.

    The reason may be repeated in one string: LangChain concatenates the values of several chunks. The most serious
    of several counts.
    """
    metadata = message.response_metadata
    details = metadata.get("incomplete_details")
    reasons = [details.get("reason") if isinstance(details, dict) else None, *map(metadata.get, _REASONS)]
    said = [reason.lower() for reason in reasons if isinstance(reason, str)]
    for ending in (Ending.FILTERED, Ending.FAILED, Ending.CUT, Ending.REPEATED):
        if any(each.startswith(_SPELLINGS[ending]) for each in said):
            return ending
    return Ending.WHOLE
