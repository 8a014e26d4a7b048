"""The time by a database's clock, as a process with another clock tells it."""

from __future__ import annotations

import pytest

from utils.persistence.postgres.clock import LEAST_DIFFERENCE, DatabaseClock

DAY = 86_400.0


class Own:
    """A clock that the test sets."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize("apart", [31 * DAY, -31 * DAY, LEAST_DIFFERENCE + 1])
def test_a_clock_that_is_wrong_tells_the_time_of_the_database(apart: float) -> None:
    own = Own()
    clock = DatabaseClock(own, own)
    clock.note(own.now + apart, own.now)
    own.now += 5
    assert clock.now() == own.now + apart


def test_a_clock_that_is_right_is_left_alone_also_where_the_answer_took_long() -> None:
    own = Own()
    clock = DatabaseClock(own, own)
    asked = own.now
    own.now += 60
    clock.note(asked + 1, asked)
    assert clock.now() == own.now
    clock.note(own.now - LEAST_DIFFERENCE, own.now)
    assert clock.now() == own.now


def test_a_clock_that_was_set_right_is_used_again() -> None:
    own = Own()
    clock = DatabaseClock(own, own)
    clock.note(own.now + DAY, own.now)
    clock.note(own.now, own.now)
    assert clock.now() == own.now


def test_a_clock_that_is_set_back_while_it_is_used_makes_nothing_older() -> None:
    own, steady = Own(), Own()
    clock = DatabaseClock(own, steady)
    clock.note(own.now, own.now)
    began = own.now
    own.now -= 31 * DAY
    steady.now += 5
    assert clock.now() == began + 5


def test_the_time_in_which_a_machine_slept_counts() -> None:
    own, steady = Own(), Own()
    clock = DatabaseClock(own, steady)
    clock.note(own.now, own.now)
    own.now += DAY
    assert clock.now() == own.now
