"""Open tool calls: found, closed in their place, and never twice."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, RemoveMessage, ToolMessage
from langgraph.graph.message import add_messages

from utils.messages.repair import INTERRUPTED
from utils.resilience.ledger import Ledger, closing_update


def ask(*ids: str) -> AIMessage:
    calls = [{"name": f"tool_{call}", "args": {}, "id": call} for call in ids]
    return AIMessage("", tool_calls=calls, id=f"ai-{'-'.join(ids)}")


def told(call: str) -> ToolMessage:
    return ToolMessage(f"result {call}", tool_call_id=call, id=f"tool-{call}")


def said(text: str) -> HumanMessage:
    return HumanMessage(text, id=text)


def closed(*messages: BaseMessage) -> list[tuple[str, str]]:
    """The conversation after the update, as LangGraph's own reducer makes it."""
    update, _ = closing_update(messages)
    before: Any = list(messages)
    after: Any = add_messages(before, update["messages"])
    return [(each.type, getattr(each, "tool_call_id", "") or str(each.content)) for each in after]


def test_the_calls_of_the_last_answer_are_closed_at_the_end() -> None:
    assert closed(said("q"), ask("a", "b"), told("a")) == [
        ("human", "q"), ("ai", ""), ("tool", "a"), ("tool", "b"),
    ]  # fmt: skip
    update, names = closing_update([said("q"), ask("a", "b"), told("a")])
    assert names == ["tool_b"]
    assert [message.content for message in update["messages"]] == [INTERRUPTED]


def test_an_older_open_call_is_closed_directly_after_its_answer() -> None:
    conversation = [said("q"), ask("a"), said("r"), ask("b")]
    assert closed(*conversation) == [
        ("human", "q"), ("ai", ""), ("tool", "a"), ("human", "r"), ("ai", ""), ("tool", "b"),
    ]  # fmt: skip


def test_answered_siblings_keep_their_results() -> None:
    conversation = [said("q"), ask("a", "b", "c"), told("c"), told("a"), said("r")]
    assert closed(*conversation)[2:5] == [("tool", "c"), ("tool", "a"), ("tool", "b")]


def test_messages_keep_their_ids_when_the_list_is_written_anew() -> None:
    conversation: list[BaseMessage] = [said("q"), ask("a"), said("r")]
    update, _ = closing_update(conversation)
    assert isinstance(update["messages"][0], RemoveMessage)
    kept = [each.id for each in update["messages"][1:] if each.type != "tool"]
    assert kept == ["q", "ai-a", "r"]


@pytest.mark.parametrize(
    "conversation", [[], [said("q")], [said("q"), AIMessage("fine")], [said("q"), ask("a"), told("a")]]
)
def test_a_whole_conversation_is_left_alone(conversation: list[BaseMessage]) -> None:
    assert closing_update(conversation)[1] == []


def test_closing_twice_changes_nothing() -> None:
    conversation: Any = [said("q"), ask("a", "b"), said("r")]
    update, _ = closing_update(conversation)
    once: Any = add_messages(list(conversation), update["messages"])
    assert closing_update(list(once))[1] == []


def test_the_ledger_knows_the_open_calls_by_name() -> None:
    ledger = Ledger()
    for message in (said("q"), ask("a", "b"), told("a")):
        ledger.observe(message)
    assert ledger.pending_tool_calls == {"b": "tool_b"}
