"""How long a text is held back, and how reasoning comes out of it."""

import pytest

from tests.support.clock import Clock
from utils.llm.reply.answer_stream import LONGEST_HOLD, AnswerStream


@pytest.mark.parametrize("text", ['{"name": "replica', "```json\n[", "<tool", "write"])
def test_what_may_become_a_call_is_held_back_for_two_seconds_at_most(text):
    clock = Clock(0)
    stream = AnswerStream({"write"}, clock)
    assert stream.feed(text).text == ""
    clock.now = LONGEST_HOLD
    assert stream.feed(" ").text == f"{text} "
    assert stream.feed("more").text == "more"


def test_a_text_that_names_a_tool_and_its_arguments_is_held_back_until_its_end():
    clock = Clock(0)
    stream = AnswerStream({"write"}, clock)
    stream.feed('{"name": "write", "arguments": {"line": ')
    clock.now = 60
    assert stream.feed('"a very long line').text == ""
    assert stream.close("").text == ""


@pytest.mark.parametrize("text", ["The", " - ", "# Title", "1.", "Ein", "[docs](", "<b>"])
def test_all_else_is_shown_at_once(text):
    assert AnswerStream({"write"}).feed(text).text.strip() == text.strip()


def test_reasoning_comes_out_while_it_is_written_and_once():
    stream = AnswerStream()
    pieces = ["<thi", "nk>The user ", "may be wrong.", "</th", "ink>\n\nYou ", "are right."]
    steps = [stream.feed(piece) for piece in pieces]
    assert "".join(step.thoughts for step in steps) == "The user may be wrong."
    assert steps[2].thoughts != ""
    assert "".join(step.text for step in steps) == "You are right."
