"""The one guard of states."""

import math
from typing import cast

import pytest
from a2a.types.a2a_pb2 import Task, TaskState
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.tasks.events import (
    ASKING,
    CANCELED,
    COMPLETED,
    FAILED,
    SUBMITTED,
    WORKING,
    chunk,
    said,
    status,
    task,
)
from utils.a2a_common.tasks.states import TERMINAL
from utils.a2a_common.tasks.transitions import Applied, Dropped, apply, begin, join_history
from utils.errors import ProtocolViolation


def play(*events, head: Task | None = None):
    """The head after events, and what became of each."""
    progress = begin("t", head)
    results = []
    for event in events:
        result = apply(progress, head, event, 1000.0)
        results.append(result)
        if isinstance(result, Applied):
            progress, head = result.progress, result.head
    return head, results


def test_a_terminal_status_is_the_last_event():
    _, results = play(task(), status(COMPLETED), status(FAILED), chunk("a", append=False), said("late"))
    assert results[2:] == [Dropped.SETTLED] * 3


def test_an_interrupted_status_settles_the_turn_and_a_later_turn_goes_on():
    head, results = play(task(), status(ASKING, "which?"), status(WORKING))
    assert results[-1] == Dropped.SETTLED
    assert head is not None
    head, results = play(status(WORKING), status(COMPLETED), head=head)
    assert head.status.state == COMPLETED
    assert [message.message_id for message in head.history] == ["which?"]


def test_a_turn_on_a_task_that_ended_takes_nothing():
    head, _ = play(task(), status(CANCELED))
    assert play(status(WORKING), head=head)[1] == [Dropped.SETTLED]


def test_no_step_back_from_working_to_submitted():
    head, results = play(task(), status(WORKING), status(SUBMITTED))
    assert results[-1] == Dropped.STEP_BACK
    assert head.status.state == WORKING


def test_a_repeated_task_is_ignored():
    head, results = play(task(), status(WORKING), task(state=COMPLETED))
    assert results[-1] == Dropped.REPEATED
    assert head.status.state == WORKING


def test_metadata_is_merged_and_a_status_without_time_gets_one():
    head, _ = play(task(), status(WORKING, first=1.0, second=1.0), status(WORKING, second=2.0))
    assert dict(head.metadata) == {"first": 1.0, "second": 2.0}
    assert head.status.timestamp.ToNanoseconds() == 1000 * 10**9


def test_the_head_holds_which_artifacts_there_are_and_not_what_they_hold():
    head, _ = play(task(), chunk("a", append=False), chunk("b"), chunk("c", append=False, artifact="z"))
    assert [artifact.artifact_id for artifact in head.artifacts] == ["a", "z"]
    assert not any(artifact.parts for artifact in head.artifacts)


def test_what_an_executor_does_to_its_event_afterwards_changes_nothing():
    event = task()
    result = apply(begin("t", None), None, event, 1000.0)
    event.status.state = FAILED
    assert isinstance(result, Applied)
    assert isinstance(result.event, Task)
    assert result.head is not None
    assert result.head.status.state == result.event.status.state == SUBMITTED


@pytest.mark.parametrize(
    "events",
    [
        [task("other")],
        [task(), status(WORKING, task_id="other")],
        [task(), chunk("a", append=False, task_id="")],
        [status(WORKING)],
        [chunk("a", append=False)],
        [task(), chunk("a")],
        [task(), said("answer")],
        [task(), status(WORKING, number=math.nan)],
    ],
    ids=[
        "a foreign task",
        "a status of another task",
        "a chunk of no task",
        "a status without a task",
        "a chunk without a task",
        "a chunk of no artifact",
        "a message after a task",
        "a number that no client can read",
    ],
)
def test_what_breaks_the_protocol_is_an_error(events):
    with pytest.raises(ProtocolViolation):
        play(*events)


def test_a_follow_ups_message_comes_after_the_question_and_once():
    head, _ = play(task(), status(ASKING, "which?"))
    assert join_history(head, said("that", "m2"))
    assert not join_history(head, said("that", "m2"))
    assert [message.message_id for message in head.history] == ["which?", "m2"]
    assert not head.status.HasField("message")


EVENTS = st.one_of(
    st.just(task()),
    st.sampled_from([TaskState.Name(state) for state in TaskState.values() if state]).map(
        lambda name: status(cast("TaskState", TaskState.Value(name)))
    ),
    st.booleans().map(lambda append: chunk("x", append=append)),
    st.just(said("m")),
)


@given(st.lists(EVENTS, max_size=12))
def test_however_an_executor_errs_nothing_follows_what_closes_the_turn(events):
    progress, head = begin("t", None), None
    open_before, states = [], []
    for event in events:
        try:
            result = apply(progress, head, event, 1000.0)
        except ProtocolViolation:
            continue
        if isinstance(result, Applied):
            open_before.append(progress.open)
            progress, head = result.progress, result.head
            states.append(head.status.state if head is not None else 0)
    assert all(open_before)
    assert all(state not in TERMINAL for state in states[:-1])
