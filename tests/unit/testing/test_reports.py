"""Workers of the tests tell the controller what decides a result, and spare it the rest."""

from __future__ import annotations

from typing import Any

import pytest

from tests.reports import is_needless

PARTS = ("setup", "call", "teardown")


def _report(when: Any, outcome: Any) -> pytest.TestReport:
    return pytest.TestReport("test_a.py::test_b", ("test_a.py", 1, "test_b"), {}, outcome, None, when)


def _told(outcome: str, reportchars: str = "fE", durations: int | None = None) -> list[str]:
    return [when for when in PARTS if not is_needless(_report(when, outcome), reportchars, durations)]


def test_of_a_test_that_passed_its_call_is_told_alone():
    assert _told("passed") == ["call"]


@pytest.mark.parametrize("outcome", ["failed", "skipped"])
def test_each_part_that_did_not_pass_is_told(outcome):
    assert _told(outcome) == list(PARTS)


@pytest.mark.parametrize("reportchars", ["p", "P", "A", "fEP"])
def test_every_part_is_told_where_the_output_of_passed_tests_is_shown(reportchars):
    assert _told("passed", reportchars) == list(PARTS)


@pytest.mark.parametrize("durations", [0, 10])
def test_every_part_is_told_where_the_slowest_are_asked_for(durations):
    assert _told("passed", durations=durations) == list(PARTS)
