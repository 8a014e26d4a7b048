"""Parses an answer that has to conform to a schema, `answer_schema`, without LangChain's own parsing of it. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from langchain.agents.structured_output import (
    AutoStrategy,
    ProviderStrategy,
    ProviderStrategyBinding,
    ToolStrategy,
)
from langchain_core.messages import AIMessage
from pydantic import TypeAdapter, ValidationError

from utils.errors import AnswerCut, AnswerRepeated, ContentFiltered, ModelFailure, ReplyUnusable
from utils.events import Partial
from utils.llm.reply.answer import partial_text
from utils.messages.marks import PARTIAL
from utils.messages.text import message_text

UNFILLED = (
    "The model's answer does not fill the form that this agent's answers have. Ask in other words, or choose another "
    "LLM_MODEL."
)
FORM_CUT = (
    "The model's reply was cut off at its limit of output tokens before it had filled the form of the answer. "
    "Raise LLM_MAX_OUTPUT_TOKENS, or ask for less at once."
)
REFUSED = "The model refused to answer: {words}"

_FENCED = re.compile(r"\s*```[a-zA-Z]*[ \t]*\n(.*)```\s*", re.DOTALL)
_MOST_REASONS = 5
_LONGEST_REASON = 200
_LONGEST_REFUSAL = 500


class FormUnfilled(ReplyUnusable):
    """The reply does not conform to the schema of the agent's answers. `detail` explains the error to the model."""

    def __init__(self, message: str, *, detail: str = "") -> None:
        super().__init__(message)
        self.detail = detail


def read_form(answer: AIMessage, form: Any) -> Any:
    """Parse the text of an answer, as `read_answer` returns it, by the form.

    Args:
        answer: The answer, without calls.
        form: LangChain's strategy for the form, or the schema itself.

    Raises:
        AnswerCut: It was cut off.
        AnswerRepeated: It ends in repetition.
        ContentFiltered: The provider's filter stopped it, or the model refused.
        FormUnfilled: It is not JSON, or does not conform to the form.
    """
    if (partial := PARTIAL.of(answer)) is not None:
        raise _unfinished(answer, partial)
    try:
        data = json.loads(_unfenced(message_text(answer)), strict=False)
    except (ValueError, RecursionError) as error:
        raise FormUnfilled(UNFILLED, detail="It was no valid JSON.") from error
    text = AIMessage(json.dumps(data))
    failed: Exception | None = None
    for spec in _specs(form):
        try:
            return ProviderStrategyBinding.from_schema_spec(spec).parse(text)
        except ValueError as error:
            failed = failed or error
    raise FormUnfilled(UNFILLED, detail=_detail(failed)) from failed


def plain_form(filled: Any) -> Any:
    """A filled form as plain JSON values: checkpoints must not contain classes of an agent, which may be renamed or forbidden there.

    Args:
        filled: The form, or its stored value: earlier versions stored the object.
    """
    return TypeAdapter[Any](Any).dump_python(filled, mode="json", fallback=str)


def _unfinished(answer: AIMessage, partial: Partial) -> ModelFailure:
    """The error of an answer that is marked as incomplete, which cannot fill a form."""
    if partial.code == AnswerCut.code:
        return AnswerCut(FORM_CUT)
    if partial.code == AnswerRepeated.code:
        return AnswerRepeated(partial.message)
    words = partial_text(answer).strip()
    if not words or words[0] in "{[`":
        return ContentFiltered(partial.message)
    return ContentFiltered(REFUSED.format(words=words[:_LONGEST_REFUSAL]))


def _unfenced(text: str) -> str:
    """The text, or the content of its code fence if it consists of one."""
    fenced = _FENCED.fullmatch(text)
    return fenced[1] if fenced else text


def _specs(form: Any) -> Sequence[Any]:
    if isinstance(form, ToolStrategy):
        return form.schema_specs
    schema = form.schema if isinstance(form, AutoStrategy | ProviderStrategy) else form
    return [ProviderStrategy(schema).schema_spec]


def _detail(error: Exception | None) -> str:
    """What is wrong with the fields, for the model only; never contains a complete value."""
    while error is not None and not isinstance(error, ValidationError):
        error = error.__cause__ if isinstance(error.__cause__, Exception) else None
    if error is None:
        return ""
    wrong = error.errors(include_url=False, include_context=False, include_input=False)[:_MOST_REASONS]
    return "; ".join(f"{_name(each['loc'])}: {each['msg'][:_LONGEST_REASON]}" for each in wrong) + "."


def _name(location: Sequence[int | str]) -> str:
    return ".".join(map(str, location)) or "the form"
