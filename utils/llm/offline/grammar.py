"""What the readers of sentences have in common: patterns that ignore case, sets of words, names of months."""

from __future__ import annotations

import re
from typing import NamedTuple

MONTHS = (
    *("january", "february", "march", "april", "may", "june", "july"),
    *("august", "september", "october", "november", "december"),
)
MONTH = "|".join((*MONTHS, *(name[:3] for name in MONTHS), "sept"))
"""A month, whole or short, as an alternative of a pattern."""


def pattern(source: str) -> re.Pattern[str]:
    """A pattern that ignores case."""
    return re.compile(source, re.IGNORECASE)


def word_set(text: str) -> frozenset[str]:
    """The words of a list that is written as text."""
    return frozenset(text.split())


class Reader(NamedTuple):
    """Reads the first group of its patterns, unless it is one of the words that look like a value and are none."""

    forms: tuple[re.Pattern[str], ...]
    none: frozenset[str]

    def read(self, text: str) -> str | None:
        """The first value in a text."""
        found = (match[1] for form in self.forms for match in form.finditer(text))
        return next((value for value in found if value.lower() not in self.none), None)


def reader(none: str, *sources: str) -> Reader:
    """A reader of patterns that ignore case. `none` are the words that are no values."""
    return Reader(tuple(map(pattern, sources)), word_set(none))
