from __future__ import annotations

from utils.a2a_common.graph.model.delegated_task import quoted
from utils.a2a_common.protocol.delegation_context import DelegationContext, PreviousResult


def context(request: str, **more: object) -> DelegationContext:
    fields = {"original_request": request, "subtask_index": 1, "total_subtasks": 1, "parent_task_id": "p"}
    return DelegationContext(**(fields | more))  # type: ignore[arg-type]


def test_a_task_that_is_the_whole_request_is_told_nothing_besides():
    assert quoted(context("List the  issues\nof a/b"), "List the issues of a/b") == ""


def test_a_request_that_stands_in_the_task_is_not_told_again():
    assert quoted(context("List the issues"), "Please list: List the issues of a/b") == ""


def test_a_part_of_a_request_is_told_the_whole_and_its_place():
    told = quoted(context("List the issues, then the releases", total_subtasks=2), "List the issues")
    assert told == 'sub-task: 1 of 2\noriginal request: "List the issues, then the releases"'


def test_earlier_results_are_quoted_on_a_line_each():
    result = PreviousResult("What is a?", 'a is "1"\nb', agent="keys")
    assert quoted(context("Read", previous_results=[result]), "Read") == (
        'earlier result of "keys" for "What is a?": "a is \\"1\\"\\nb"'
    )
