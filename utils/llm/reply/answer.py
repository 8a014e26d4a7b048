"""Validates a model's reply before anything acts on it: finish reason, thoughts, tool calls, text. Pure but for a log line."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import structlog
from langchain_core.messages import AIMessage
from langchain_core.messages.tool import tool_call

from utils.errors import (
    AnswerCut,
    AnswerRepeated,
    ContentFiltered,
    EmptyResponse,
    ModelUnavailable,
    ToolCallUnreadable,
)
from utils.events import Partial
from utils.llm.reply.finish import Ending, ending_of
from utils.llm.reply.many_calls import check_number
from utils.llm.reply.native_calls import breaks_off, is_json, is_too_deep, mended_calls, named_calls, new_id
from utils.llm.reply.refusal import with_refusal_as_text
from utils.llm.reply.repetition import repeated_from
from utils.llm.reply.text_calls import resembles_call, written_calls
from utils.llm.reply.thoughts import REASONING_FIELDS, split_thoughts
from utils.llm.reply.watch import REPEATED
from utils.messages.marks import PARTIAL
from utils.messages.text import message_text

log = structlog.get_logger(__name__)

NOTHING = "The model gave no answer. Please try again."
BROKEN_OFF = "The model provider's answer broke off."
_RAISE = "Raise LLM_MAX_OUTPUT_TOKENS, or ask for less at once."
CALL_CUT = (
    f"The model's reply was cut off at its limit of output tokens in a tool call, which was not run. {_RAISE}"
)
CALL_BROKEN_OFF = (
    "The model's reply broke off in a tool call, which was not run, and its server did not say why. It may have a limit of "
    "output tokens: raise LLM_MAX_OUTPUT_TOKENS, or the server's own. If that does not help, choose an LLM_MODEL that calls tools."
)
NO_ANSWER_YET = f"The model came to its limit of output tokens before it answered. {_RAISE}"
ANSWER_CUT = "The answer was cut off at the model's limit of output tokens. Ask for the rest, or raise LLM_MAX_OUTPUT_TOKENS."
FILTERED = "The model provider's content filter stopped the answer."
UNREADABLE = (
    "The model wrote a tool call that cannot be read. Choose an LLM_MODEL that calls tools, and see that its "
    "server passes tool calls on."
)

_LEAST_ANSWER = 200
"""Characters before a repetition that are worth showing as an answer."""

_NOTICES = {
    Ending.CUT: (AnswerCut.code, ANSWER_CUT),
    Ending.FILTERED: (ContentFiltered.code, FILTERED),
    Ending.REPEATED: (AnswerRepeated.code, REPEATED),
}


def read_answer(message: AIMessage, tools: Collection[str], *, broken: Sequence[str] = ()) -> AIMessage:
    """The answer without thoughts, and with tool calls that the model wrote as text turned into real ones.

    Args:
        message: The model's reply.
        tools: Names of the tools that were offered to it.
        broken: Raw arguments of its calls that are not complete JSON.

    Raises:
        AnswerCut: It was cut off or broke off in a call, or was cut off before it had any text.
        CallsTooMany: It contains more tool calls than are run.
        AnswerRepeated: It is nothing but repetition, or ends in it and calls tools.
        ModelUnavailable: The provider behind the server failed in the middle of it.
        ToolCallUnreadable: It contains a tool call that cannot be parsed.
        ContentFiltered: The provider's filter left nothing usable.
        EmptyResponse: It has no text and no calls.
    """
    message = with_refusal_as_text(_without_reasoning(message))
    text = split_thoughts(message_text(message)).answer
    ending, text = _ending(message, text)
    if ending is Ending.FAILED:
        raise ModelUnavailable(BROKEN_OFF)
    if message.tool_calls or message.invalid_tool_calls:
        return _calling(message, text, tools, ending, broken=broken)
    if ending is Ending.CUT and (not text.strip() or resembles_call(text, tools)):
        raise AnswerCut(CALL_CUT if text.strip() else NO_ANSWER_YET)
    if ending is Ending.FILTERED and not text.strip():
        raise ContentFiltered(FILTERED)
    if ending is Ending.COMPLETE and (calls := written_calls(text, tools)):
        check_number(len(calls))
        log.info("model.call_in_text", calls=len(calls))
        made = [tool_call(name=each.name, args=each.arguments, id=new_id()) for each in calls]
        return _with_text(message, "").model_copy(update={"tool_calls": made})
    if resembles_call(text, tools):
        raise ToolCallUnreadable(UNREADABLE)
    if not text.strip():
        raise EmptyResponse(NOTHING)
    if ending is Ending.REPEATED and len(text) < _LEAST_ANSWER:
        raise AnswerRepeated(REPEATED)
    return _shown(message, text, ending)


def cut_text(answer: AIMessage) -> str | None:
    """The words of an answer that `read_answer` marked as cut off; `None` for any other answer."""
    partial = PARTIAL.of(answer)
    if partial is None or partial.code != AnswerCut.code:
        return None
    return partial_text(answer)


def partial_text(answer: AIMessage) -> str:
    """The words of an answer that `read_answer` marked as incomplete, without the notice."""
    partial = PARTIAL.of(answer)
    return message_text(answer).removesuffix(_quoted(partial.message if partial is not None else ""))


def _ending(message: AIMessage, text: str) -> tuple[Ending, str]:
    """Why the reply ended, and its text up to the first repetition if it ends in repetitions."""
    repeated = repeated_from(text)
    return (ending_of(message), text) if repeated is None else (Ending.REPEATED, text[:repeated])


def _without_reasoning(message: AIMessage) -> AIMessage:
    """The message without the fields of its reasoning, which are not sent back."""
    kept = {key: value for key, value in message.additional_kwargs.items() if key not in REASONING_FIELDS}
    if len(kept) == len(message.additional_kwargs):
        return message
    return message.model_copy(update={"additional_kwargs": kept})


def _calling(
    message: AIMessage, text: str, tools: Collection[str], ending: Ending, *, broken: Sequence[str]
) -> AIMessage:
    """An answer with tool calls, when all of them are complete."""
    if ending is Ending.FILTERED:
        raise ContentFiltered(FILTERED)
    if ending is Ending.REPEATED:
        raise AnswerRepeated(REPEATED)
    if ending is not Ending.COMPLETE:
        raise AnswerCut(CALL_CUT)
    check_number(len(message.tool_calls) + len(message.invalid_tool_calls))
    mended = mended_calls(message)
    if mended is None:
        raise ToolCallUnreadable(UNREADABLE)
    if len(broken) > sum(not is_json(call["args"] or "") for call in message.invalid_tool_calls):
        raise AnswerCut(CALL_BROKEN_OFF) if any(map(breaks_off, broken)) else ToolCallUnreadable(UNREADABLE)
    calls = named_calls([*message.tool_calls, *mended], tools)
    if any(map(is_too_deep, calls)):
        raise ToolCallUnreadable(UNREADABLE)
    read = _with_text(message, "" if resembles_call(text, tools) else text)
    if calls == message.tool_calls:
        return read
    log.info("model.calls_mended", calls=len(calls))
    return read.model_copy(update={"tool_calls": calls, "invalid_tool_calls": []})


def _shown(message: AIMessage, text: str, ending: Ending) -> AIMessage:
    """A text answer, with a notice when it is incomplete."""
    if ending is Ending.COMPLETE:
        return _with_text(message, text)
    code, why = _NOTICES[ending]
    log.warning("model.answer_in_part", code=code)
    return PARTIAL.on(_with_text(message, f"{text}{_quoted(why)}"), Partial(code, why))


def _quoted(sentence: str) -> str:
    return f"\n\n> {sentence}"


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
    blocks = [{"type": "text", "text": text}] if text else []
    return message.model_copy(update={"content": [*before, *blocks, *after]})


def _is_text(block: object) -> bool:
    return isinstance(block, str) or (isinstance(block, dict) and isinstance(block.get("text"), str))
