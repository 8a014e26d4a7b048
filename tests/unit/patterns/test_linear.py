"""Patterns that search texts of any length take no time out of proportion: one long message must not stop a service."""

import re
import time

import pytest

from multi_agents.platform_engineer import suggestions
from utils.context.summarisers import clauses
from utils.llm.reply import call_forms
from utils.messages import sentences

SHORT, LONG = 400, 1_600
RATIO = 8.0
"""Four times the text takes a pattern four times as long; where the time grows with the square, sixteen times."""
SECONDS = 0.005
"""Less says nothing of growth. What grows with the square takes 10 ms and more for 1,600 characters."""
UNITS = (" ", "\n", "\t", "a", "1", ".", "-", "[", "(", "<", '"', "a.", "a/", "a-", "1.")
SEARCHED = {
    "suggestions": suggestions._PARTICULAR,
    "clauses": clauses._CLAUSE,
    "attributes of a call": call_forms._ATTRIBUTE,
    "ends of sentences": sentences._END,
    "joints of questions": sentences._JOINT,
}


def _took(pattern: re.Pattern[str], text: str, *, at_once: bool) -> float:
    """Processor time, the best of three, so that what else runs does not count."""
    times = []
    for _ in range(3):
        begun = time.process_time()
        if at_once:
            pattern.match(text)
        else:
            pattern.findall(text)
        times.append(time.process_time() - begun)
    return min(times)


def grows(pattern: re.Pattern[str], unit: str, *, at_once: bool = False) -> bool:
    """Whether the time grows faster than the text; `at_once`: the pattern is matched with the beginning alone."""
    short, long = (
        _took(pattern, f"a{(unit * length)[:length]}\0", at_once=at_once) for length in (SHORT, LONG)
    )
    return long > SECONDS and long > RATIO * short


@pytest.mark.parametrize("name", SEARCHED)
def test_the_time_of_a_pattern_grows_no_faster_than_the_text(name):
    assert [unit for unit in UNITS if grows(SEARCHED[name], unit)] == []


def test_a_name_before_endless_blanks_is_no_call_soon():
    assert [unit for unit in UNITS if grows(call_forms._BEFORE_ARGUMENTS, unit, at_once=True)] == []


def test_a_pattern_that_begins_with_any_number_of_blanks_is_noticed():
    assert grows(re.compile(r"\s*[,;]?\s(?:and|plus)\b"), " ")
    assert not grows(re.compile(r"(?<!\s)(?:\s*+[,;])?\s++(?:and|plus)\b"), " ")
