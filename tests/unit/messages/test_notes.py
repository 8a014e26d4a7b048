from __future__ import annotations

from datetime import UTC, date, datetime

import pytest
from langchain_core.messages import AIMessage, HumanMessage, merge_message_runs

from utils.context.sending import sent_messages
from utils.messages.counter import MessageCounter
from utils.messages.notes import (
    as_sent,
    dated,
    notes_of,
    timestamp_of,
    timestamped,
    with_short_task_note,
    with_task_note,
)

DAY = dated(date(2026, 11, 23))


def test_the_day_and_the_task_stand_behind_the_words_in_a_block_of_their_own():
    said = with_task_note(HumanMessage("List the issues.", additional_kwargs=DAY), "sub-task: 1 of 2")
    assert as_sent(said).content == [
        {"type": "text", "text": "List the issues."},
        {"type": "text", "text": "(Today is Monday, 2026-11-23.)\nsub-task: 1 of 2"},
    ]


@pytest.mark.parametrize("llm_type", ["openai-chat", "azure-openai-chat"])
def test_chat_completions_are_asked_with_text_alone_where_there_is_nothing_else(llm_type):
    said = HumanMessage("List the issues.", additional_kwargs=DAY)
    (sent,) = sent_messages([said], llm_type)
    assert sent.content == "List the issues.\n\n(Today is Monday, 2026-11-23.)"
    (sent,) = sent_messages([said], "amazon_bedrock_converse_chat")
    assert len(sent.content) == 2


def test_blocks_of_the_user_stay_in_front():
    picture = {"type": "image", "base64": "AAAA", "mime_type": "image/png"}
    said = HumanMessage([{"type": "text", "text": "What is it?"}, picture], additional_kwargs=DAY)
    assert as_sent(said).content[:2] == said.content


def test_a_message_without_anything_is_sent_as_it_is():
    for said in (HumanMessage("Hello."), AIMessage("Hello.", additional_kwargs=DAY)):
        assert as_sent(said) is said
        assert notes_of(said) == ""


def test_what_is_told_costs_tokens():
    counter, bare = MessageCounter(), HumanMessage("List the issues.")
    told = HumanMessage("List the issues.", additional_kwargs=DAY)
    assert counter.message(told) == counter.message(bare) + counter.text(notes_of(told))


def test_a_long_task_is_cut_and_says_so():
    said = with_task_note(HumanMessage("List."), "x" * 500)
    assert notes_of(with_short_task_note(said, 100)) == "x" * 100 + " … (cut)"
    assert with_short_task_note(said, 500) is said


def test_messages_with_times_can_be_joined_by_a_client_and_a_time_that_is_none_is_unknown():
    moment = datetime(2026, 3, 18, 12, tzinfo=UTC)
    first, second = (HumanMessage(text, additional_kwargs=timestamped(moment)) for text in ("a", "b"))
    assert [message.content for message in merge_message_runs([first, second])] == ["a\nb"]
    assert timestamp_of(first) == moment.timestamp()
    assert timestamp_of(HumanMessage("a")) == timestamp_of(merge_message_runs([first, second])[0]) == 0.0
