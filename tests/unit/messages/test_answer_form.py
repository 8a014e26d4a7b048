"""The form that a request names for its answer, and rows as a CSV file."""

from __future__ import annotations

import csv
import io

import pytest

from utils.messages.answer_form import wants_csv, without_form
from utils.messages.csv_rows import csv_of
from utils.messages.results import Items


@pytest.mark.parametrize(
    "request_text",
    [
        "Give me the open issues of a/b as CSV",
        "give me the issues as a csv file please",
        "Export the releases of a/b to a spreadsheet",
        "The branches of a/b for Excel",
        "I need a CSV of all pull requests of a/b",
        "Zeig die Issues von a/b als CSV",
        "Montre les issues de a/b en CSV",
        "Lista los issues de a/b en CSV",
        "把 a/b 的 issue 导出为 CSV",
        "a/b の issue を CSV で出して",
    ],
)
def test_a_request_for_a_csv_file_is_recognised(request_text: str) -> None:
    assert wants_csv(request_text)


@pytest.mark.parametrize(
    "request_text",
    [
        "List the issues about csv import in a/b",
        "Which pull request changed csv.py in a/b?",
        "List the issues of a/b as a table",
        "How does the excel importer work?",
        "",
    ],
)
def test_a_request_that_only_speaks_of_csv_is_not(request_text: str) -> None:
    assert not wants_csv(request_text)


def test_words_in_the_midst_of_pasted_data_name_no_form() -> None:
    pasted = "Reported: one cannot export as CSV file any more.\n" * 60_000
    assert not wants_csv(f"Which of these are bugs?{' ' * 2_000}{pasted}{' ' * 2_000}Tell me why.")
    assert wants_csv(f"Give me the bugs among these as CSV:\n{'x ' * 2_000}")
    assert wants_csv(f"{'x ' * 2_000}\nGive me the bugs among these as CSV.")


def test_the_words_for_the_form_are_left_out_of_what_is_looked_for() -> None:
    assert without_form("List the issues of a/b as a table").split() == ["List", "the", "issues", "of", "a/b"]
    assert without_form("The issues of a/b as a CSV file").split() == ["The", "issues", "of", "a/b"]
    assert without_form("Which tables are in a/b?") == "Which tables are in a/b?"


def test_a_file_has_all_columns_and_reads_back_what_was_put_in() -> None:
    rows = [
        {"number": 1, "title": 'a "b", c\nd', "labels": ["x", "y"], "draft": True},
        {"number": 2, "title": "é|中", "author": None},
    ]
    read = list(csv.reader(io.StringIO(csv_of(Items(kind="issues", items=rows)), newline="")))
    assert read == [
        ["number", "title", "labels", "draft", "author"],
        ["1", 'a "b", c\nd', "x; y", "yes", ""],
        ["2", "é|中", "", "", ""],
    ]


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", '=HYPERLINK("https://a.test")'])
def test_no_cell_is_one_that_a_spreadsheet_would_run(text: str) -> None:
    items = Items(kind="issues", items=[{"title": text, "labels": [text], "count": -1}])
    _, row = csv.reader(io.StringIO(csv_of(items), newline=""))
    assert row == [f"'{text}", f"'{text}", "-1"]
