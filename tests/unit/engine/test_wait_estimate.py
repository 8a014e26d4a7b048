"""When a client is told to come again."""

from __future__ import annotations

import pytest

from utils.a2a_common.engine.wait_estimate import LONGEST, SHORTEST, WaitEstimate


@pytest.mark.parametrize(
    ("seconds", "waiting", "expected"),
    [
        ([], 10, 3.0),
        ([2.0, 4.0], 8, 6.0),
        ([0.001], 1, SHORTEST),
        ([900.0], 100, LONGEST),
        ([1.0], 0, SHORTEST),
    ],
)
def test_the_estimate_is_what_the_waiting_turns_take_within_bounds(
    seconds: list[float], waiting: int, expected: float
) -> None:
    pace = WaitEstimate(4)
    for each in seconds:
        pace.note(each)
    assert pace.retry_after(waiting) == expected


def test_only_recent_turns_count() -> None:
    pace = WaitEstimate(1)
    for each in [100.0] * 50 + [2.0] * 32:
        pace.note(each)
    assert pace.retry_after(5) == 10.0
