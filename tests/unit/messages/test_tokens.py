"""Counting tokens: offline, exact for OpenAI's format, and never a failure."""

from __future__ import annotations

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

from utils.messages.media.charges import charges_for
from utils.messages.tokens import (
    count_message_tokens,
    count_messages_tokens,
    count_text_tokens,
    count_tools_tokens,
)

CALL = {"name": "search", "args": {"query": "größe", "limit": 3}, "id": "call_1", "type": "tool_call"}


def cookbook_conversation() -> list[BaseMessage]:
    """The six messages of OpenAI's own example, for which it publishes what the API charged."""
    system = (
        "You are a helpful, pattern-following assistant that translates corporate jargon into plain English."
    )
    pairs = [
        ("example_user", "New synergies will help drive top-line growth."),
        ("example_assistant", "Things working well together will increase revenue."),
        (
            "example_user",
            "Let's circle back when we have more bandwidth to touch base on opportunities for increased leverage.",
        ),
        ("example_assistant", "Let's talk later when we're less busy about how to do better."),
    ]
    last = "This late pivot means we don't have time to boil the ocean for the client deliverable."
    named = [SystemMessage(text, name=name) for name, text in pairs]
    return [SystemMessage(system), *named, HumanMessage(last)]


@pytest.mark.parametrize(("encoding", "charged"), [("cl100k_base", 129), ("o200k_base", 124)])
def test_the_count_is_what_openai_says_it_charged_for_its_own_example(encoding, charged):
    assert count_messages_tokens(cookbook_conversation(), encoding) == charged


def test_calls_and_results_count_as_langchain_openai_counts_them():
    from langchain_openai import ChatOpenAI

    history = [
        SystemMessage("Be brief."),
        HumanMessage([{"type": "text", "text": "Two "}, {"type": "text", "text": "blocks"}]),
        AIMessage("", tool_calls=[CALL]),
        ToolMessage('{"found": 3}', tool_call_id="call_1", name="search"),
        AIMessage("Three."),
    ]
    theirs = ChatOpenAI(model="gpt-4o", api_key="k").get_num_tokens_from_messages(history)
    assert count_messages_tokens(history) == theirs


def test_markers_of_the_encoding_count_as_text():
    assert count_text_tokens("<|endoftext|>") > 1


@pytest.mark.parametrize("text", ["\n" * 300_000, " " * 1_000_000, "a" * 1_000_000, "\ud800 broken"])
def test_no_text_is_too_strange_to_count(text):
    assert count_text_tokens(text) > 0


def test_arguments_of_a_call_count_once_however_the_provider_writes_them():
    plain = AIMessage("Looking.", tool_calls=[CALL])
    block = {"type": "tool_use", "id": "call_1", "name": "search", "input": CALL["args"]}
    blocks = AIMessage([{"type": "text", "text": "Looking."}, block], tool_calls=[CALL])
    assert count_message_tokens(plain) == count_message_tokens(blocks)
    assert count_message_tokens(plain) > count_message_tokens(AIMessage("Looking."))


def test_a_broken_call_counts_too():
    broken = AIMessage(
        "", invalid_tool_calls=[{"name": "f", "args": '{"a": ' * 50, "id": "1", "error": None}]
    )
    assert count_message_tokens(broken) > 100


def test_an_image_of_unknown_size_counts_as_the_most_it_can_cost():
    block = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 90_000}}
    for model, most in (("gpt-4o", 1_445), ("gpt-4o-mini", 48_169), ("claude-sonnet-4-5", 1_600)):
        assert 0 <= count_message_tokens(HumanMessage([block]), charges=charges_for(model)) - most <= 10


def test_a_tool_counts_its_name_description_and_schema():
    tool = {"type": "function", "function": {"name": "f", "description": "Finds " * 100, "parameters": {}}}
    assert count_tools_tokens([tool]) > 100
