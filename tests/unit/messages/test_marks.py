"""What the steps of a turn tell each other on messages is read as it was written, also by an earlier version."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage, ToolMessage

from utils.events import Partial
from utils.messages import marks
from utils.messages.marks import Mark, Place, Problem, Shape

STORED: dict[str, tuple[Mark[Any], Any, object]] = {
    "stopped_call": (marks.STOPPED_CALL, True, True),
    "problem": (
        marks.PROBLEM,
        Problem("timed_out", "It took too long.", retryable=True, fatal=True, quotes=True),
        {
            "code": "timed_out",
            "message": "It took too long.",
            "retryable": True,
            "fatal": True,
            "quotes": True,
        },
    ),
    "shape": (marks.SHAPE, Shape.ITEMS, "items"),
    "in_words": (marks.IN_WORDS, "a is 1", "a is 1"),
    "shown_before": (marks.SHOWN_BEFORE, ["c1"], ["c1"]),
    "mcp_server": (marks.MCP_SERVER, "files", "files"),
    "full_output": (marks.FULL_OUTPUT, "art_0", "art_0"),
    "changed_state": (marks.CHANGED_STATE, ["notes"], ["notes"]),
    "finished_at": (marks.FINISHED_AT, 1.5, 1.5),
    "whole_answer": (marks.WHOLE_ANSWER, True, True),
    "date": (marks.DAY, "2026-11-23", "2026-11-23"),
    "said_at": (marks.SAID_AT, "2026-11-23T10:00:00+00:00", "2026-11-23T10:00:00+00:00"),
    "delegated_with": (marks.TASK, "sub-task: 1 of 2", "sub-task: 1 of 2"),
    "own_words": (marks.OWN_WORDS, "12", "12"),
    "stand_in": (marks.STAND_IN, True, True),
    "partial": (
        marks.PARTIAL,
        Partial("answer_cut", "Cut."),
        {"code": "answer_cut", "message": "Cut.", "retryable": False},
    ),
    "origin": (marks.ORIGIN, "keys", "keys"),
    "cost_usd": (marks.COST, 0.25, 0.25),
    "counted_tokens": (marks.COUNTED_TOKENS, 12, 12),
    "usage_counted": (marks.USAGE_COUNTED, True, True),
    "asks_user": (marks.ASKS_USER, True, True),
}
"""By the key that stored conversations have: the mark, a value, and what is stored of it."""


def holding(mark: Mark[Any], stored: object) -> AIMessage | ToolMessage:
    if mark.place is Place.ANSWER:
        return AIMessage("x", response_metadata={mark.key: stored})
    return ToolMessage("x", tool_call_id="c1", additional_kwargs={mark.key: stored})


@pytest.mark.parametrize("key", STORED)
def test_a_mark_is_read_as_it_was_written_under_the_key_that_stored_conversations_have(key: str) -> None:
    mark, value, stored = STORED[key]
    bare = holding(mark, stored).model_copy(update={mark.place.value: {"other": 1}})
    assert mark.of(bare) is None
    marked = mark.on(bare, value)
    assert getattr(marked, mark.place) == {"other": 1, key: stored}
    assert mark.of(marked) == value
    assert getattr(bare, mark.place) == {"other": 1}


def test_every_mark_has_a_key_of_its_own() -> None:
    every = [each for each in vars(marks).values() if isinstance(each, Mark)]
    assert {each.key for each in every} == set(STORED)
    assert len(every) == len(STORED)


@pytest.mark.parametrize("key", ["problem", "shape", "in_words", "full_output", "finished_at", "partial"])
def test_a_value_of_another_type_is_as_if_it_were_not_there(key: str) -> None:
    mark, _, _ = STORED[key]
    assert mark.of(holding(mark, ["something", "else"])) is None


def test_a_problem_that_an_earlier_version_stored_without_a_field_is_read() -> None:
    old = {"code": "timed_out", "message": "It took too long.", "retryable": False, "fatal": True}
    assert marks.PROBLEM.of(holding(marks.PROBLEM, old)) == Problem(
        "timed_out", "It took too long.", fatal=True
    )
