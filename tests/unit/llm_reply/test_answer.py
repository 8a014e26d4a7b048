"""How an answer is read, in the words of every provider, and what of it is shown while it comes."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, AIMessageChunk

from utils.errors import AnswerCut, ContentFiltered, EmptyResponse, ToolCallUnreadable
from utils.events import Partial
from utils.llm.reply.answer import FILTERED, read_answer
from utils.llm.reply.answer_stream import AnswerStream
from utils.llm.reply.finish import Ending, ending_of
from utils.llm.reply.many_calls import MOST_CALLS, CallsTooMany
from utils.llm.reply.native_calls import breaks_off
from utils.llm.reply.thoughts import split_thoughts
from utils.llm.reply.watch import watched_reply
from utils.messages.marks import PARTIAL
from utils.messages.text import message_text


@pytest.mark.parametrize(
    ("metadata", "ending"),
    [
        ({}, Ending.COMPLETE),
        ({"finish_reason": "stop"}, Ending.COMPLETE),
        ({"finish_reason": "tool_calls"}, Ending.COMPLETE),
        ({"finish_reason": "length"}, Ending.CUT),
        ({"finish_reason": "lengthlength"}, Ending.CUT),
        ({"finish_reason": "MAX_TOKENS"}, Ending.CUT),
        ({"stopReason": "end_turn"}, Ending.COMPLETE),
        ({"stopReason": "max_tokens"}, Ending.CUT),
        ({"stop_reason": "max_tokens"}, Ending.CUT),
        ({"finish_reason": "refusal"}, Ending.FILTERED),
        ({"stopReason": "guardrail_intervened"}, Ending.FILTERED),
        ({"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}, Ending.CUT),
        ({"status": "incomplete", "incomplete_details": {"reason": "content_filter"}}, Ending.FILTERED),
        ({"status": "completed", "incomplete_details": None}, Ending.COMPLETE),
    ],
)
def test_every_provider_says_in_its_own_word_why_an_answer_ended(metadata, ending):
    assert ending_of(AIMessage("x", response_metadata=metadata)) is ending


def calling(**more):
    return AIMessage("", tool_calls=[{"name": "write", "args": {}, "id": "1"}], **more)


@pytest.mark.parametrize(
    ("message", "broken", "failure"),
    [
        (calling(response_metadata={"finish_reason": "length"}), (), AnswerCut),
        (calling(), ['{"a": '], AnswerCut),
        (calling(), ['{"a": 1}{"a": 1}'], ToolCallUnreadable),
        (calling(), ["[" * 2_000 + "]" * 2_000], ToolCallUnreadable),
        (
            AIMessage("", invalid_tool_calls=[{"name": "w", "args": "[" * 2_000, "id": "2", "error": None}]),
            ["[" * 2_000],
            ToolCallUnreadable,
        ),
        (
            calling(invalid_tool_calls=[{"name": "w", "args": "{'", "id": "2", "error": None}]),
            (),
            ToolCallUnreadable,
        ),
        (calling(response_metadata={"finish_reason": "content_filter"}), (), ContentFiltered),
        (AIMessage("", response_metadata={"finish_reason": "length"}), (), AnswerCut),
        (AIMessage("<think>hm", response_metadata={"finish_reason": "length"}), (), AnswerCut),
        (
            AIMessage('{"name": "write", "ar', response_metadata={"stopReason": "max_tokens"}),
            (),
            AnswerCut,
        ),
        (AIMessage("<think>hm</think>\n"), (), EmptyResponse),
    ],
)
def test_an_answer_that_cannot_be_used_is_an_error_of_its_own_type(message, broken, failure):
    with pytest.raises(failure):
        read_answer(message, {"write"}, broken=broken)


def nested(levels: int) -> list[object]:
    value: list[object] = []
    for _ in range(levels - 1):
        value = [value]
    return value


def test_a_call_is_read_as_deep_as_it_may_be_nested_and_no_deeper():
    def call(levels):
        made = {"name": "write", "args": {"line": nested(levels)}, "id": "1", "type": "tool_call"}
        return AIMessage("", tool_calls=[made])

    assert read_answer(call(99), ("write",)).tool_calls
    for levels in (100, 5_000):
        with pytest.raises(ToolCallUnreadable):
            read_answer(call(levels), ("write",))


def test_a_call_in_a_text_is_nested_no_deeper_than_another():
    def call(levels):
        return AIMessage(f'{{"name": "write", "arguments": {{"line": {"[" * levels}{"]" * levels}}}}}')

    assert read_answer(call(99), ("write",)).tool_calls
    with pytest.raises(ToolCallUnreadable):
        read_answer(call(100), ("write",))


def test_blocks_that_are_not_text_stay_where_they_are():
    thought = {"type": "reasoning_content", "reasoning_content": {"text": "hm"}}
    text = {"type": "text", "text": "<think>no</think>yes"}
    read = read_answer(AIMessage([thought, text]), ())
    assert read.content == [thought, {"type": "text", "text": "yes"}]


def test_a_dotted_name_is_the_tool_where_nothing_else_can_be_meant():
    message = AIMessage("", tool_calls=[{"name": "functions.write", "args": {}, "id": "1"}])
    assert read_answer(message, {"write"}).tool_calls[0]["name"] == "write"
    assert read_answer(message, {"other"}).tool_calls[0]["name"] == "functions.write"


def test_a_call_that_is_written_beside_the_call_itself_is_not_shown():
    message = calling().model_copy(update={"content": '{"name": "write", "arguments": {}}'})
    assert read_answer(message, {"write"}).content == ""
    assert read_answer(calling().model_copy(update={"content": "I write."}), {"write"}).content == "I write."


def test_a_cut_answer_carries_the_reason_and_a_whole_one_is_not_touched():
    assert PARTIAL.of(read_answer(AIMessage("a", response_metadata={"finish_reason": "length"}), ()))
    whole = AIMessage("a")
    assert read_answer(whole, ()) is whole


@pytest.mark.parametrize(
    ("text", "thoughts", "answer"),
    [
        ("yes", "", "yes"),
        ("  yes", "", "  yes"),
        ("<think>a</think>\n\nyes", "a", "yes"),
        ("<think>a</think><think>b</think>yes", "ab", "yes"),
        ("\n<THINKING>a</THINKING> yes", "a", "yes"),
        ("<think>a", "<think>a", ""),
        ("a\n</think>\n\nyes", "a\n", "yes"),
        ("a</think>", "a", ""),
        ("A `</think>` closes it.", "", "A `</think>` closes it."),
        (
            "It begins with <think> and ends with </think>\n",
            "",
            "It begins with <think> and ends with </think>\n",
        ),
    ],
)
def test_thoughts_are_told_from_the_answer(text, thoughts, answer):
    assert split_thoughts(text) == (thoughts, answer)


PIECES = st.sampled_from(
    [
        "<think>",
        "</think>",
        "\n",
        "hm ",
        '{"name": ',
        '"write"',
        "```json\n",
        "```",
        "<tool",
        "_call>",
        "yes ",
        "}",
        " ",
    ]
)


@given(st.lists(PIECES, max_size=12))
def test_however_a_text_is_cut_into_pieces_what_is_shown_in_the_end_is_the_answer(pieces):
    stream, shown = AnswerStream(), ""
    for piece in pieces:
        step = stream.feed(piece)
        shown = step.text if step.replaces else shown + step.text
    answer = split_thoughts("".join(pieces)).answer
    last = stream.close(answer)
    assert (last.text if last.replaces else shown + last.text) == answer


def chunk(*parts):
    return AIMessageChunk(
        content="", tool_call_chunks=[{"type": "tool_call_chunk", **part} for part in parts]
    )


@pytest.mark.parametrize(
    ("chunks", "broken"),
    [
        ([], False),
        ([chunk({"name": "w", "args": "", "id": "1", "index": 0})], False),
        (
            [
                chunk({"name": "w", "args": '{"a"', "id": "1", "index": 0}),
                chunk({"name": None, "args": ": 1}", "id": None, "index": 0}),
            ],
            False,
        ),
        ([chunk({"name": "w", "args": '{"a": "x\ny"}', "id": "1", "index": 0})], False),
        ([chunk({"name": "w", "args": '{"a": "x', "id": "1", "index": 0})], True),
        (
            [
                chunk({"name": "w", "args": '{"a": 1}', "id": "1", "index": None}),
                chunk({"name": "w", "args": '{"b": 1}', "id": "2", "index": None}),
            ],
            False,
        ),
    ],
)
def test_whether_arguments_came_whole_is_judged_as_langchain_joins_them(chunks, broken):
    from uuid import uuid4

    from langchain_core.outputs import ChatGenerationChunk

    with watched_reply() as calls:
        run, other = uuid4(), uuid4()
        calls.on_chat_model_start({}, [], run_id=run)
        for each in chunks:
            calls.on_llm_new_token("", chunk=ChatGenerationChunk(message=each), run_id=run)
        torn = chunk({"name": "w", "args": "{", "id": "9", "index": 7})
        calls.on_llm_new_token("", chunk=ChatGenerationChunk(message=torn), run_id=other)
        assert bool(calls.broken) is broken


def pieces(number, server):
    """One call as servers stream it."""
    index, first, later = {
        "numbers": (number, None, None),
        "ids": (None, str(number), str(number)),
        "numbers and empty ids": (number, str(number), ""),
    }[server]
    yield chunk({"name": "w", "args": "{", "id": first, "index": index})
    yield chunk({"name": None, "args": "}", "id": later, "index": index})


@pytest.mark.parametrize("server", ["numbers", "ids", "numbers and empty ids"])
def test_a_stream_of_more_calls_than_are_run_is_stopped(server):
    from uuid import uuid4

    from langchain_core.outputs import ChatGenerationChunk

    with watched_reply() as watch:
        run = uuid4()
        watch.on_chat_model_start({}, [], run_id=run)
        for number in range(MOST_CALLS):
            for piece in pieces(number, server):
                watch.on_llm_new_token("", chunk=ChatGenerationChunk(message=piece), run_id=run)
        last = next(pieces(MOST_CALLS, server))
        with pytest.raises(CallsTooMany):
            watch.on_llm_new_token("", chunk=ChatGenerationChunk(message=last), run_id=run)


def test_more_calls_in_text_than_are_run_are_refused_too():
    written = json.dumps([{"name": "w", "arguments": {"a": number}} for number in range(MOST_CALLS + 1)])
    with pytest.raises(CallsTooMany):
        read_answer(AIMessage(written), {"w"})


@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.text(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    ),
    st.data(),
)
def test_any_beginning_of_arguments_breaks_off_and_what_more_follows_does_not(value, data):
    whole = json.dumps({"a": value})
    cut = data.draw(st.integers(1, len(whole) - 1))
    assert breaks_off(whole[:cut])
    assert not breaks_off(whole)
    assert not breaks_off(whole + whole)


@pytest.mark.parametrize(
    "message",
    [
        AIMessage("", additional_kwargs={"refusal": "I cannot."}),
        AIMessage([{"type": "refusal", "refusal": "I cannot."}]),
        AIMessage([{"type": "reasoning", "summary": []}], additional_kwargs={"refusal": "I cannot."}),
    ],
)
def test_the_words_of_a_refusal_are_the_text_of_an_answer_that_says_it_was_filtered(message):
    answer = read_answer(message, [])
    assert message_text(answer).startswith("I cannot.")
    assert PARTIAL.of(answer) == Partial("content_filtered", FILTERED)
    assert "refusal" not in answer.additional_kwargs


def test_a_message_without_words_of_refusal_is_no_refusal():
    answer = read_answer(AIMessage("Yes.", additional_kwargs={"refusal": None}), [])
    assert (message_text(answer), PARTIAL.of(answer)) == ("Yes.", None)
