"""The text of tool results."""

from __future__ import annotations

import json

from langchain_core.messages import ToolMessage

from utils.messages.marks import PROBLEM, SHAPE, Problem
from utils.messages.results import Items, ToolProblem, dump_result, failure_in, result_in, shape_of


def test_a_tool_result_is_compact_json() -> None:
    problem = ToolProblem(error="upstream_unavailable", message="Down.", retryable=True)
    text = dump_result(problem)
    told = json.loads(text)
    assert told["message"] == "Down."
    assert text == json.dumps(told, separators=(",", ":"), ensure_ascii=False)


def answered(text: str, **entries: object) -> ToolMessage:
    return ToolMessage(text, tool_call_id="c1", additional_kwargs=entries)


def test_a_text_that_only_looks_like_a_failure_or_like_rows_is_neither() -> None:
    looks = dump_result(ToolProblem(error="any", message="Nobody's failure."))
    assert failure_in(answered(looks)) is None
    assert result_in(answered(looks)) is None
    assert result_in(answered(dump_result(Items(kind="pulls", items=[])))) is None


def test_a_result_is_what_its_tool_said_and_a_failure_tells_why() -> None:
    rows, problem = Items(kind="pulls", items=[{"n": 1}]), ToolProblem(error="any", message="No.")
    assert result_in(answered(dump_result(rows), **SHAPE.entry(shape_of(rows)))) == rows
    assert failure_in(answered(dump_result(problem), **SHAPE.entry(shape_of(problem)))) == "No."
    assert failure_in(answered("{}", **PROBLEM.entry(Problem("any", "It is away.")))) == "It is away."


def test_a_failure_that_an_earlier_version_stored_without_a_mark_is_read_by_its_status() -> None:
    old = answered(dump_result(ToolProblem(error="any", message="No."))).model_copy(
        update={"status": "error"}
    )
    assert failure_in(old) == "No."
    assert failure_in(answered("Broken.").model_copy(update={"status": "error"})) == "Broken."
