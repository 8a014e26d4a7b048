"""A log event that a page tells to look for stands in the tables of docs/observability.md."""

from __future__ import annotations

import re

import pytest

from tests.docs.blocks import ROOT, documents

LOGGED = re.compile(r'(?:log\.(?:debug|info|warning|error|exception)|tell)\(\s*"([a-z_]+(?:\.[a-z_]+)+)"')
NAMED = re.compile(r"`([a-z_]+(?:\.[a-z_]+)+)`")
TABLE = "docs/observability.md"
FOLDERS = ("utils", "multi_agents", "agents")


@pytest.fixture(scope="module")
def logged() -> set[str]:
    paths = (path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))
    return {event for path in paths for event in LOGGED.findall(path.read_text("utf-8"))}


def test_an_event_that_a_page_names_is_explained(logged):
    rows = re.findall(
        r"^\| (`.+?) \| (?:debug|info|warning|error) \|", (ROOT / TABLE).read_text("utf-8"), re.M
    )
    explained = {event for row in rows for event in NAMED.findall(row)}
    pages = [page for page in documents() if page.startswith("docs/") and page.count("/") == 1]
    named = {(event, page) for page in pages for event in NAMED.findall((ROOT / page).read_text("utf-8"))}
    assert {event for event, _ in named} & logged > {"mcp.unreachable", "turn.recovered"}
    assert sorted((event, page) for event, page in named if event in logged - explained) == []
