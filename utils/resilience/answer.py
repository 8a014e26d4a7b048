"""Validates a model's answer before anything acts on it: finish reason, thoughts, tool calls, text. Pure but for a log line."""

from __future__ import annotations

from collections.abc import Collection
from enum import StrEnum
from uuid import uuid4

import structlog
from langchain_core.messages import AIMessage
from langchain_core.messages.tool import tool_call

from utils.errors import AnswerCut, ContentFiltered, EmptyResponse, ToolCallUnreadable
from utils.messages.text import message_text
from utils.messages.thoughts import split_thoughts
from utils.messages.written_calls import plain_name, resembles_call, written_calls

log = structlog.get_logger(__name__)

PARTIAL = "partial"
"""Key of an answer's `response_metadata` that marks an incomplete answer; holds the fields of `Partial`."""

NOTHING = "The model gave no answer. Please try again."
_RAISE = "Raise LLM_MAX_OUTPUT_TOKENS, or ask for less at once."
CALL_CUT = (
    f"The model's reply was cut off at its limit of output tokens in a tool call, which was not run. {_RAISE}"
)
NO_ANSWER_YET = f"The model came to its limit of output tokens before it answered. {_RAISE}"
ANSWER_CUT = "The answer was cut off at the model's limit of output tokens. Ask for the rest, or raise LLM_MAX_OUTPUT_TOKENS."
FILTERED = "The model provider's content filter stopped the answer."
UNREADABLE = (
    "The model wrote a tool call that cannot be read. Choose an LLM_MODEL that calls tools, and see that its "
    "server passes tool calls on."
)

_REASONS = ("finish_reason", "stopReason", "stop_reason")
_CUT = ("length", "max_tokens", "max_output_tokens", "model_context_window_exceeded")
_FILTER = ("content_filter", "guardrail_intervened")  # Bedrock says content_filtered


class Ending(StrEnum):
    """Why an answer ended."""

    WHOLE = "whole"
    CUT = "cut"
    FILTERED = "filtered"


def ending_of(message: AIMessage) -> Ending:
    """The finish reason of an answer, in any provider's spelling; `WHOLE` where the provider gives none.

    The reason may be repeated in one string: LangChain concatenates the values of several chunks.
    """
    metadata = message.response_metadata
    details = metadata.get("incomplete_details")
    reasons = [details.get("reason") if isinstance(details, dict) else None, *map(metadata.get, _REASONS)]
    said = [reason.lower() for reason in reasons if isinstance(reason, str)]
    if any(each.startswith(_FILTER) for each in said):
        return Ending.FILTERED
    return Ending.CUT if any(each.startswith(_CUT) for each in said) else Ending.WHOLE


def read_answer(message: AIMessage, tools: Collection[str], *, broken: bool = False) -> AIMessage:
    """The answer without thoughts, and with tool calls that the model wrote as text turned into real ones.

    Args:
        message: What the model said.
        tools: Names of the tools that it was offered.
        broken: Whether the raw arguments of a call are not a complete JSON object.

    Raises:
        AnswerCut: It was cut off in a call, or before it said anything.
        ToolCallUnreadable: It contains a tool call that cannot be parsed.
        ContentFiltered: The provider's filter left nothing usable.
        EmptyResponse: It has no text and no calls.
    """
    ending, said = ending_of(message), split_thoughts(message_text(message)).answer
    if message.tool_calls or message.invalid_tool_calls:
        return _calling(message, said, tools, ending, broken=broken)
    if ending is Ending.CUT and (not said.strip() or resembles_call(said, tools)):
        raise AnswerCut(CALL_CUT if said.strip() else NO_ANSWER_YET)
    if ending is Ending.FILTERED and not said.strip():
        raise ContentFiltered(FILTERED)
    if ending is Ending.WHOLE and (calls := written_calls(said, tools)):
        log.info("model.call_in_text", calls=len(calls))
        made = [
            tool_call(name=each.name, args=each.arguments, id=f"call_{uuid4().hex[:24]}") for each in calls
        ]
        return _with_text(message, "").model_copy(update={"tool_calls": made})
    if resembles_call(said, tools):
        raise ToolCallUnreadable(UNREADABLE)
    if not said.strip():
        raise EmptyResponse(NOTHING)
    return _shown(message, said, ending)


def _calling(
    message: AIMessage, said: str, tools: Collection[str], ending: Ending, *, broken: bool
) -> AIMessage:
    """An answer with tool calls, when all of them are complete."""
    if ending is Ending.FILTERED:
        raise ContentFiltered(FILTERED)
    if ending is Ending.CUT:
        raise AnswerCut(CALL_CUT)
    if message.invalid_tool_calls:
        raise ToolCallUnreadable(UNREADABLE)
    if broken:
        raise AnswerCut(CALL_CUT)
    renamed = [call | {"name": plain_name(call["name"], tools)} for call in message.tool_calls]
    read = _with_text(message, "" if resembles_call(said, tools) else said)
    return read if renamed == message.tool_calls else read.model_copy(update={"tool_calls": renamed})


def _shown(message: AIMessage, said: str, ending: Ending) -> AIMessage:
    """A text answer, with a notice when it is incomplete."""
    if ending is Ending.WHOLE:
        return _with_text(message, said)
    code, why = (AnswerCut.code, ANSWER_CUT) if ending is Ending.CUT else (ContentFiltered.code, FILTERED)
    log.warning("model.answer_in_part", code=code)
    partial = {"code": code, "message": why, "retryable": False}
    read = _with_text(message, f"{said.rstrip()}\n\n> {why}")
    return read.model_copy(update={"response_metadata": {**read.response_metadata, PARTIAL: partial}})


def _with_text(message: AIMessage, text: str) -> AIMessage:
    """The message with its text replaced; other content blocks stay."""
    if message_text(message) == text:
        return message
    if isinstance(message.content, str):
        return message.model_copy(update={"content": text})
    first = next((at for at, block in enumerate(message.content) if _is_text(block)), 0)
    before, after = (
        message.content[:first],
        [block for block in message.content[first:] if not _is_text(block)],
    )
    said = [{"type": "text", "text": text}] if text else []
    return message.model_copy(update={"content": [*before, *said, *after]})


def _is_text(block: object) -> bool:
    return isinstance(block, str) or (isinstance(block, dict) and isinstance(block.get("text"), str))
