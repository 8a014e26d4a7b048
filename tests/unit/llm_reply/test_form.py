"""What an answer fills a form with, whatever describes the form."""

from typing import Any

import pytest
from langchain.agents.structured_output import AutoStrategy, ProviderStrategy, ToolStrategy
from langchain_core.messages import AIMessage
from pydantic import BaseModel

from utils.errors import AnswerCut, AnswerRepeated, ContentFiltered
from utils.llm.reply.answer import read_answer
from utils.llm.reply.form import FormUnfilled, read_form

_LONG = "This paragraph says something that is worth keeping, in more words than it needs to. " * 3


class Verdict(BaseModel):
    """Whether it may go out."""

    safe: bool


class Question(BaseModel):
    """What is still to be known."""

    question: str


JSON = {"title": "Verdict", "type": "object", "properties": {"safe": {"type": "boolean"}}}


def answer(text: str, **metadata: Any) -> AIMessage:
    return read_answer(AIMessage(text, response_metadata=metadata), [])


@pytest.mark.parametrize(
    "form", [Verdict, AutoStrategy(Verdict), ProviderStrategy(Verdict), ToolStrategy(Verdict)]
)
@pytest.mark.parametrize(
    "text", ['{"safe": true}', '```json\n{"safe": true}\n```', '\n```\n{"safe": true}```\n']
)
def test_the_text_of_an_answer_fills_the_form(form, text):
    assert read_form(answer(text), form) == Verdict(safe=True)


def test_one_of_several_forms_is_filled():
    assert read_form(answer('{"question": "Which?"}'), ToolStrategy(Verdict | Question)) == Question(
        question="Which?"
    )


def test_a_form_may_be_a_schema_in_json():
    assert read_form(answer('{"safe": true}'), JSON) == {"safe": True}


@pytest.mark.parametrize(
    ("text", "detail"),
    [
        ("Yes, it may.", "It was no valid JSON."),
        ('Here it is:\n```json\n{"safe": true}\n```', "It was no valid JSON."),
        (
            '{"safe": "perhaps, says secret"}',
            "safe: Input should be a valid boolean, unable to interpret input.",
        ),
        ("[]", "the form: "),
    ],
)
def test_what_is_wrong_is_told_without_the_value(text, detail):
    with pytest.raises(FormUnfilled) as failed:
        read_form(answer(text), Verdict)
    assert failed.value.detail.startswith(detail)
    assert "secret" not in failed.value.detail


def test_a_part_of_a_form_is_none():
    with pytest.raises(AnswerCut):
        read_form(answer('{"safe": tr', finish_reason="length"), Verdict)
    with pytest.raises(ContentFiltered, match="content filter"):
        read_form(answer('{"safe": tr', finish_reason="content_filter"), Verdict)
    with pytest.raises(ContentFiltered, match="The model refused to answer: I cannot"):
        read_form(answer("I cannot.", stop_reason="refusal"), Verdict)


def test_a_form_that_ends_in_repetition_is_none():
    text = _LONG + "very good and " * 400
    with pytest.raises(AnswerRepeated):
        read_form(answer(text), Verdict)
