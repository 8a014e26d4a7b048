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


_TURN_REFUSALS = ("refusal", "guardrail_intervened")
_TURN_FIELDS = ("stop_reason", "stopReason", "native_finish_reason")
"""Without `finish_reason`: a refusal of the model itself is put there, after which OpenAI's models continue the conversation."""


class TurnFiltered(ContentFiltered):
    """The provider responds with status 200 that it refuses the turn, and will refuse each later request that contains it."""


class Ending(StrEnum):
    """Why an answer ended."""

    COMPLETE = "complete"
    CUT = "cut"
    FILTERED = "filtered"
    FAILED = "failed"
    REPEATED = "repeated"


def prompt_blocked(message: AIMessage) -> bool:
    """Whether the provider's filter stopped the request itself: Gemini then sends status 200 and an empty answer."""
    return _blocked(message.response_metadata)


def _blocked(metadata: Mapping[str, Any]) -> bool:
    feedback = metadata.get("prompt_feedback")
    return isinstance(feedback, dict) and bool(feedback.get("block_reason"))


def reports_end(metadata: Mapping[str, Any]) -> bool:
    """Whether the metadata of a chunk reports that the answer has ended, for any reason.

    OpenAI's Chat Completions API and Gemini use `finish_reason`, Anthropic `stop_reason`, Bedrock `stopReason`, OpenAI's
    Responses API the `status` of the response in its last event.
    """
    return _blocked(metadata) or any(metadata.get(name) for name in (*_REASONS, "status"))


def turn_refused(message: AIMessage) -> bool:
    """Whether an answer with status 200 ended with a refusal of the turn, by Anthropic's classifiers or Bedrock's guardrails."""
    reasons = [message.response_metadata.get(name) for name in _TURN_FIELDS]
    return any(isinstance(each, str) and each.lower().startswith(_TURN_REFUSALS) for each in reasons)


def ending_of(message: AIMessage) -> Ending:
    """The finish reason of an answer; `COMPLETE` if the provider gives none, since streams that break off raise an error before.

    The reason may be repeated in one string: LangChain concatenates the values of several chunks. Of several reasons the
    most serious is returned.
    """
    metadata = message.response_metadata
    details = metadata.get("incomplete_details")
    reasons = [details.get("reason") if isinstance(details, dict) else None, *map(metadata.get, _REASONS)]
    found = [reason.lower() for reason in reasons if isinstance(reason, str)]
    for ending in (Ending.FILTERED, Ending.FAILED, Ending.CUT, Ending.REPEATED):
        if any(each.startswith(_SPELLINGS[ending]) for each in found):
            return ending
    return Ending.COMPLETE
