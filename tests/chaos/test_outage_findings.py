"""What the driver of the outage notices: each count is seen above zero, so that its zero means something."""

from __future__ import annotations

import pytest

from benchmarks.outage.tally import Tally
from benchmarks.service.client import COMPLETED, FAILED, Seen
from benchmarks.service.script import SAY, Order

ORDER = Order("1.0", SAY)
WORKING = "TASK_STATE_WORKING"


@pytest.mark.parametrize(
    ("seen", "happened", "wrong"),
    [
        (Seen("t", COMPLETED, ORDER.answer), {"answered": 1}, {}),
        (Seen("t", COMPLETED, "Answer 1.0:"), {}, {"incomplete": 1}),
        (Seen("t", FAILED, code="storage_failed", said="The database failed."), {"failed": 1}, {}),
        (Seen("t", FAILED, said="The database failed."), {}, {"unclear": 1}),
        (Seen("t", WORKING, refusal=-32603, said="The database failed."), {"refused": 1}, {}),
        (Seen("t", WORKING, again=True), {"again": 1}, {}),
        (Seen("t", WORKING), {}, {"unclear": 1}),
        (Seen(), {}, {"unclear": 1}),
    ],
)
def test_a_request_ends_in_an_answer_or_in_a_failure_with_its_reason(seen, happened, wrong) -> None:
    tally = Tally()
    tally.check(ORDER, seen)
    assert (tally.happened, tally.wrong) == (happened, wrong)


@pytest.mark.parametrize(
    ("told", "state", "text", "wrong"),
    [
        (COMPLETED, COMPLETED, "a", {}),
        (COMPLETED, COMPLETED, "", {"changed": 1}),
        (COMPLETED, FAILED, "a", {"changed": 1}),
        (FAILED, COMPLETED, "a", {"changed": 1}),
        (WORKING, COMPLETED, "a", {}),
    ],
)
def test_an_end_that_was_told_is_the_one_that_is_stored(told, state, text, wrong) -> None:
    tally = Tally()
    tally.check_stored(Seen("t", told, "a"), state, text)
    assert tally.wrong == wrong


def test_a_run_in_which_nothing_met_the_outage_or_nothing_came_back_has_shown_nothing() -> None:
    tally = Tally()
    tally.happened.update(answered=3, recovered=3)
    assert not tally.passed()
    tally.happened.update(refused=1)
    assert tally.passed()
    tally.fault("died", "supervisor")
    assert not tally.passed()
    assert not Tally().passed()
