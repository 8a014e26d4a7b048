"""What the driver of limits of size notices: a run that grows, fails a turn or deletes nothing has not passed."""

from __future__ import annotations

import pytest

from benchmarks.retention.tally import Tally
from benchmarks.service.client import COMPLETED, FAILED, Seen
from benchmarks.service.script import SAY, Order

ORDER = Order("1.0", SAY)
FLAT = [1, 5, 9, 9, 8, 9, 9, 9]


@pytest.mark.parametrize(
    ("sizes", "deleted", "state", "passed"),
    [
        (FLAT, 3, COMPLETED, True),
        ([1, 2, 3, 4, 5, 6, 7, 8], 3, COMPLETED, False),
        (FLAT, 0, COMPLETED, False),
        (FLAT, 3, FAILED, False),
        ([1, 2], 3, COMPLETED, False),
    ],
)
def test_only_a_run_that_deletes_and_does_not_grow_passes(sizes, deleted, state, passed) -> None:
    tally = Tally()
    tally.check(ORDER, Seen("t", state, ORDER.answer, ORDER.answer))
    tally.sizes, tally.deleted = sizes, deleted
    assert tally.passed() is passed
