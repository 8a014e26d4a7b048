"""What of a call's result is shown."""

from __future__ import annotations

import pytest

from utils.a2a_common.protocol.shown_result import MOST_CHARACTERS, shown_result

TOKEN = "ghp_" + "A1b2C3d4" * 4
LONG_SECRET = "eyJhbGciOiJIUzI1NiJ9." + "a1B2" * 190 + ".c2ln"


@pytest.mark.parametrize("place", range(900, 1_010, 10))
def test_no_part_of_a_secret_is_shown_wherever_it_stands(place: int) -> None:
    before = LONG_SECRET + " "
    text = before + "a " * ((place - len(before)) // 2) + TOKEN + " words" * 300
    assert "ghp_" not in str(shown_result(text))


@pytest.mark.parametrize("place", range(19_980, 20_010))
def test_nor_where_the_search_ends(place: int) -> None:
    secrets = (LONG_SECRET + " ") * (place // (len(LONG_SECRET) + 1))
    text = secrets + "a" * (place - len(secrets) - 1) + " " + TOKEN + " words" * 300
    assert "ghp_" not in str(shown_result(text))


def test_the_count_is_that_of_what_is_not_shown() -> None:
    assert shown_result("a " + LONG_SECRET) == "a [redacted]"
    assert shown_result("x" * (MOST_CHARACTERS + 7)) == "x" * MOST_CHARACTERS + "… (7 more characters)"
    assert shown_result(" \n") is None


def test_the_beginning_of_an_endless_word_is_shown() -> None:
    assert shown_result("x" * 30_000) == "x" * MOST_CHARACTERS + "… (29,500 more characters)"
