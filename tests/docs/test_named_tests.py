"""A test that a document names as the holder of a promise exists."""

from __future__ import annotations

import ast
import re
from itertools import pairwise

import pytest

from tests.docs.blocks import ROOT, documents
from tests.style.sources import nodes_of

NAMED = re.compile(r"`(?:tests/[\w/]+\.py::)?(test_\w+)`")
DEFINED = re.compile(r"def (test_\w+)")
STATED = re.compile(r"`make bench`|\| still to come\b")


def _existing(wanted: set[str]) -> set[str]:
    """Those of these names that a test or a file of tests has."""
    paths = list((ROOT / "tests").rglob("test_*.py"))
    in_text = [path for path in paths if wanted.intersection(DEFINED.findall(path.read_text("utf-8")))]
    return {path.stem for path in paths} | {
        node.name
        for path in in_text
        for node in nodes_of(path)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }


def test_every_test_that_a_document_names_exists():
    named = {
        (document, name)
        for document in documents()
        for name in NAMED.findall((ROOT / document).read_text("utf-8"))
    }
    existing = _existing({name for _, name in named})
    assert sorted(f"{document}: {name}" for document, name in named if name not in existing) == []


@pytest.mark.parametrize("page", [name for name in documents() if name.startswith("docs/systems/")])
def test_each_row_names_the_test_that_observes_it_or_what_is_still_to_come(page):
    lines = (ROOT / page).read_text("utf-8").splitlines()
    rows = [
        line
        for line, following in pairwise([*lines, ""])
        if line.startswith("| ") and not following.startswith("|--")
    ]
    assert rows
    bare = [row for row in rows if not NAMED.search(row) and not STATED.search(row)]
    assert not bare


@pytest.mark.parametrize("number", ["0.34", "0.36", "F2.2", "20", "22", "23", "25"])
def test_the_promises_of_operation_are_listed(number):
    assert f"\n| {number} |" in (ROOT / "docs/systems/operations.md").read_text("utf-8")
