"""Typing errors, mended towards the words that the bound tools are described with."""

from __future__ import annotations

import re
from collections.abc import Iterable

from utils.llm.offline.words import STOPWORDS, words

_TOKEN = re.compile(r"(?<![\w./@#-])[A-Za-z]{4,}(?![\w./@#-]*[/@_\d])")
SHORT_WORD = 3
LONG_WORD = 8
_COMMON_TEXT = """agent answer api asked build called change check code commit config create current delete deploy docs
    does document error failed file find first from give have help here into issue just know language last latest
    like list make many merge more most name need new next number once only open option other over page
    pull push read release remove request review root rules run same search server set show some start state
    stop take task team test text than that them then there these they thing this time tool type update use used
    user value version wait want well were what when where which while who whom will with word work would write your
    lets let line lines lot log logs part port post road role rule rate date data diff both best base case
    closes close clone bugs table label level model order pass passed past reports result"""
COMMON = frozenset(_COMMON_TEXT.split())
"""Words that are no typing errors, though they resemble words of a tool."""


def vocabulary(texts: Iterable[str]) -> frozenset[str]:
    """The plain words of some texts."""
    return frozenset(
        word for text in texts for word in words(text) if word.isalpha() and len(word) >= SHORT_WORD
    )


def mended(text: str, known: frozenset[str]) -> str:
    """`text` with unknown words replaced by the one known word that is a slip of the keyboard away."""
    return _TOKEN.sub(lambda match: _mended_word(match[0], known), text)


def _mended_word(word: str, known: frozenset[str]) -> str:
    lower = word.lower()
    if (
        {lower, f"{lower}s", lower.removesuffix("s")} & known
        or lower in COMMON
        or lower in STOPWORDS
        or word != lower
    ):
        return word
    allowed = 2 if len(lower) >= LONG_WORD else 1
    near = [
        (distance, candidate)
        for candidate in known
        if candidate[0] == lower[0] and abs(len(candidate) - len(lower)) <= allowed
        for distance in (edits(lower, candidate, allowed),)
        if distance <= allowed
    ]
    if not near:
        return word
    return min(near, key=lambda pair: (pair[0], abs(len(pair[1]) - len(lower)), pair[1]))[1]


def edits(left: str, right: str, limit: int) -> int:
    """Insertions, deletions, replacements and swaps of neighbours that lead from one word to the other.

    Counts up to `limit` and answers `limit + 1` for anything farther.
    """
    if abs(len(left) - len(right)) > limit:
        return limit + 1
    before: list[int] = []
    row = list(range(len(right) + 1))
    for i, a in enumerate(left, 1):
        older, before, row = before, row, [i]
        for j, b in enumerate(right, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a != b))
            if i > 1 and j > 1 and a == right[j - 2] and left[i - 2] == b:
                cost = min(cost, older[j - 2] + 1)
            row.append(cost)
    return min(row[-1], limit + 1)
