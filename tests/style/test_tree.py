"""Nothing in the tree belongs to one machine, and nothing is left half done."""

from __future__ import annotations

import re

import pytest

from tests.style.sources import ROOT, lines_of, python_files, short, tracked_files

LARGEST_TEXT = 2_000_000
MACHINE = re.compile(
    r"(?<![\w.:/])/(?:home|Users|root|work|tmp/bash)/[\w.-]+"  # a folder of somebody
    r"|--(?:extra-)?index-url[ =]https?://|index-url *= *[\"']?https?://|\"resolved\": *\"https?://(?!registry\.npmjs\.org)"
    r"|://[^/\s\"']*(?:proxy|artifactory|nexus)[^/\s\"']*/(?:pypi|simple|npm)"
)
UNFINISHED = re.compile(r"\b(?:TODO|FIXME|XXX|HACK)\b|(?<!except )NotImplementedError")
HERE = ROOT / "tests" / "style" / "test_tree.py"


def _texts():
    for path in tracked_files():
        if path == HERE or path.stat().st_size > LARGEST_TEXT:
            continue
        try:
            yield path, path.read_text("utf-8")
        except UnicodeDecodeError:
            continue


@pytest.mark.processes  # git lists them
def test_no_file_names_a_machine_or_an_index():
    found = [
        f"{short(path)}: {match[0]}"
        for path, text in _texts()
        if not short(path).startswith("agents/github/testing/examples/")
        for match in MACHINE.finditer(text)
    ]
    assert not found


def test_no_code_is_left_for_later():
    files = (*python_files(), *python_files("tests", "benchmarks"))
    found = [
        f"{short(path)}:{number}"
        for path in files
        if path != HERE
        for number, line in enumerate(lines_of(path), 1)
        if UNFINISHED.search(line)
    ]
    assert not found


@pytest.mark.parametrize(
    "text",
    [
        "/home/anna/project",
        "/root/x",
        "--index-url https://example.com/simple",
        "https://my-proxy.local/pypi/simple",
    ],
)
def test_the_search_for_machines_finds_one(text):
    assert MACHINE.search(text)
