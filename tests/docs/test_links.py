"""Links between documents, and the files that they name, exist."""

from __future__ import annotations

import re
from functools import cache

import pytest
from markdown_it.token import Token

from tests.docs.blocks import ROOT, documents, tokens_of

OUTSIDE = ("http://", "https://", "mailto:")
FILE = re.compile(r"[\w.-]+(?:/[\w.*-]+)+/?|[\w-]+\.(?:py|md|toml|yaml)")
ELSEWHERE = re.compile(
    r"NAME|\.data|^agents/incidents|^tests/unit/agents/incidents|incidents\.json|^octocat/|^x\.json"
)
"""Words in code style that are no file of the checkout: placeholders, and what a walk makes."""


@cache
def _inline(document: str) -> list[Token]:
    return [
        child for token in tokens_of(document) if token.type == "inline" for child in token.children or []
    ]


@cache
def _anchors(document: str) -> set[str]:
    tokens = tokens_of(document)
    titles = [tokens[i + 1].content for i, token in enumerate(tokens) if token.type == "heading_open"]
    return {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in titles}


def _links() -> list[tuple[str, str]]:
    return [
        (document, str(child.attrs["href"]))
        for document in documents()
        for child in _inline(document)
        if child.type == "link_open" and not str(child.attrs["href"]).startswith(OUTSIDE)
    ]


def _named_files() -> list[tuple[str, str]]:
    return sorted({
        (document, child.content)
        for document in documents()
        for child in _inline(document)
        if child.type == "code_inline" and FILE.fullmatch(child.content) and not ELSEWHERE.search(child.content)
    })  # fmt: skip


@pytest.mark.parametrize("document, target", _links())
def test_a_link_resolves(document, target):
    name, _, anchor = target.partition("#")
    path = (ROOT / document).parent / name if name else ROOT / document
    assert path.exists(), f"{document} links to {target}"
    if anchor:
        assert anchor in _anchors(str(path.resolve().relative_to(ROOT)))


def test_a_picture_that_a_document_shows_is_there_and_says_what_it_shows():
    shown = [(one, child) for one in documents() for child in _inline(one) if child.type == "image"]
    assert shown
    assert [one for one, child in shown if not ((ROOT / one).parent / str(child.attrs["src"])).exists()] == []
    assert [one for one, child in shown if not child.content] == []


@pytest.mark.parametrize("document, name", _named_files())
def test_a_file_that_a_document_names_exists(document, name):
    found = [*ROOT.glob(name), *(ROOT / document).parent.glob(name)]
    assert found, f"{document} names {name}"
