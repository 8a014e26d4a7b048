"""The pages that name tests name one for each promise and each failure that they are to cover."""

from __future__ import annotations

import re

import pytest

from tests.docs.blocks import ROOT

DELEGATION = [
    *(f"0.{number}" for number in (*range(10, 23), 31, 32)),
    *("2.1", "3.7", "3.15", "3.16", "3.17", "F3.1", "F4.7", "F4.8"),
    *(f"4.{number}" for number in (3, 4, 5, 6, 7, 11, 12, 13, 14, 15, 16, 19, 20)),
]
PROMISED = [
    f"{system}.{number}"
    for system, last in (
        ("0", 36),
        ("1", 17),
        ("2", 14),
        ("3", 22),
        ("4", 23),
        ("F0", 6),
        ("F1", 4),
        ("F2", 3),
    )
    for number in range(1, last + 1)
] + ["F3.1", *(f"F4.{number}" for number in range(1, 10))]
FAILURES = [str(number) for number in (*range(1, 20), 24)]


def _rows(page: str) -> dict[str, list[str]]:
    """The rows of a page's tables by the numbers in their first column."""
    found: dict[str, list[str]] = {}
    for line in (ROOT / "docs" / page).read_text("utf-8").splitlines():
        if line.startswith("| "):
            for number in re.split(r",\s*", line.split("|")[1].strip()):
                found.setdefault(number, []).append(line)
    return found


def test_each_promise_of_an_earlier_system_has_a_row():
    listed = {
        number for page in ("context", "delegation", "operations") for number in _rows(f"systems/{page}.md")
    }
    assert [number for number in PROMISED if number not in listed] == []


@pytest.mark.parametrize("number", DELEGATION)
def test_each_promise_about_delegation_has_a_row_with_a_test(number):
    assert any(re.search(r"`test_\w+`", row) for row in _rows("systems/delegation.md").get(number, ()))


@pytest.mark.parametrize("number", FAILURES)
def test_each_failure_of_predecessors_has_a_row_with_a_test(number):
    rows = _rows("systems/failures.md")
    assert number in rows
    assert all(re.search(r"`test_\w+`", row) for row in rows[number])
