"""How long a task was worked on, over turns and over processes that died."""

from __future__ import annotations

from typing import Any

import pytest

from utils.a2a_common.protocol.extensions import TREE_EXTENSION
from utils.a2a_common.protocol.task_tree import TaskTree
from utils.events import DelegationStarted

ALMOST = pytest.approx(0.0, abs=5.0)
"""Nothing to speak of, on a slow machine."""


def told(tree: TaskTree, *, ends: bool) -> dict[str, Any]:
    payload: dict[str, Any] = tree.facts(ends=ends)[TREE_EXTENSION]
    return payload


def test_a_turn_that_goes_on_after_a_restart_counts_from_where_it_began() -> None:
    assert told(TaskTree(gone_by=100.0), ends=True)["seconds"] - 100.0 == ALMOST


def test_what_was_told_while_the_turn_went_on_is_not_counted_twice() -> None:
    first = TaskTree(before={"seconds": 1000.0}, gone_by=50.0)
    first.note(DelegationStarted("c1", "keys", "look"))
    midway = told(first, ends=False)
    assert midway["seconds"] - 1050.0 == ALMOST
    assert told(TaskTree(before=midway, gone_by=300.0), ends=True)["seconds"] - 1300.0 == ALMOST


def test_the_turns_before_count_where_the_turn_that_goes_on_had_told_nothing() -> None:
    ended = told(TaskTree(gone_by=1000.0), ends=True)
    assert told(TaskTree(before=ended, gone_by=300.0), ends=True)["seconds"] - 1300.0 == ALMOST
    assert told(TaskTree(before=ended), ends=True)["seconds"] - 1000.0 == ALMOST
