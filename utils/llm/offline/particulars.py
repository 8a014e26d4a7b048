"""Addresses of a code host and names in other forms written out in words, and a sentence without its particulars."""

from __future__ import annotations

import re
from functools import lru_cache

from utils.llm.offline import entities
from utils.llm.offline.grammar import FORMS, LEXICON, part, whole
from utils.llm.offline.words import KEPT, spelled_out

_TABLE = tuple(
    (re.compile(whole([row["form"]])), row["written"], FORMS[row.get("where", "anything")])
    for row in LEXICON["links"]["rows"]
)


@lru_cache(maxsize=KEPT)
def links_in_words(text: str) -> str:
    """`text` with each of them replaced: ".../octocat/hello-world/pull/7" by "pull request 7 of octocat/hello-world"."""
    for form, written, where in _TABLE:
        if where.search(text):
            text = form.sub(written, text)
    return text


_PLACED = r"\s*(?:\b(?:of|in|for|from|on|to|does|did|is|at)\s+)?(?:the\s+)?(?:repo(?:sitory)?\s+)?{}"
_HALF_NAMED = re.compile(
    rf"(?:^\W*|\b(?:in|of|on|for|from|to|at|over at|does|has|is)\s+(?:the\s+)?)(?!(?:{part('compound')})-)([A-Za-z]{part('separated')})(?![\w/.])"
)
"""A name as repositories have it, without its owner: "the last release of hello-world"."""
_ADDRESSES = re.compile(r"https?://\S+")
_GAPS = re.compile(r"  +")
"""Many names in a row leave as many blanks, which `legible` has not seen."""


@lru_cache(maxsize=4096)
def masked(text: str) -> str:
    """A sentence without the names and numbers in it."""
    text = _ADDRESSES.sub("an address", links_in_words(text))
    named = entities.repository_text(text)
    if named:
        text = re.sub(_PLACED.format(re.escape(named)), " ", text, flags=re.IGNORECASE)
    elif FORMS["has"].search(text):
        text = _HALF_NAMED.sub(" ", text)
    if file := entities.path(text):
        text = FORMS["on_branch"].sub("", text).replace(file, "file")
    text = _GAPS.sub(" ", text)
    text = FORMS["sought"].sub(r"\1 something", without_denied(text))
    return " ".join(re.sub(r"#?\b\d+\b", " ", spelled_out(text)).split())


def without_denied(text: str) -> str:
    """A text without what it does not ask for, where it asks for something else that a repository has."""
    rest = FORMS["denied"].sub(" ", text)
    return rest if FORMS["has"].search(rest) else text
