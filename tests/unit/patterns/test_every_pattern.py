"""How the steps of a pattern grow with a text is told from how it is written, without a clock."""

import re

import pytest

from tests.unit.patterns.automaton import LETTERS
from tests.unit.patterns.degree import EXPONENTIAL, Degrees
from utils.llm.offline.arguments import denied

SQUARE = 2
_BLANKS = sum(1 << bit for bit, letter in enumerate(LETTERS) if letter.isspace())


def mixed(reads: int) -> bool:
    """Whether a loop reads blanks and others. Runs of one kind are cut before the offline model reads them (`legible`)."""
    return bool(reads & _BLANKS and reads & ~_BLANKS)


@pytest.mark.parametrize(
    ("source", "degree"),
    [
        ("a*", 1),
        ('"[^"]*"', 1),
        (r"(?<!\s)\s++x", 1),
        (r"(?<!a)a+b", 1),
        (r"\b\w+/x", 1),
        (r"^(?:\w+\s+)*x", 1),
        (r"\b(?:the\s+)?(?:a\s+)?x", 1),
        (r"never.{0,40}x", 1),
        (r"\s*x", SQUARE),
        (r"never.*x", SQUARE),
        (r"(?=.*x)y", SQUARE),
        (r"^\s*,?\s*x", SQUARE),
        (r"(?:\w+\s+)*x", SQUARE),
        (r"[,;]?\s*(?:but|and)?\s*no", 3),
        (r"never.*do.*x", 3),
        (r"^a*a*a*a*x", 4),
        ("(a*)*b", EXPONENTIAL),
        ("^(?:a|a)*b", EXPONENTIAL),
        ("^(?:a|b|ab)*c", EXPONENTIAL),
        (r"(?:\s*,?)*x", EXPONENTIAL),
        (r"^(?:(?:and|also|and also)\b\W*)*x", EXPONENTIAL),
        (r"(?:[-_]\w+)+(?!\w)", EXPONENTIAL),
    ],
)
def test_the_steps_of_a_pattern_are_told_from_how_it_is_written(source, degree):
    assert Degrees(re.compile(source)).degree == degree


def test_a_pattern_that_is_made_for_some_words_takes_steps_in_proportion():
    made = Degrees(denied("draft|open|closed"), counted=mixed)
    assert (made.degree, made.told()) == (1, "")
