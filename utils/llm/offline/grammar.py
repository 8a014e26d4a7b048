"""What the readers of sentences have in common: patterns that ignore case, the lexicon, names of months.

`lexicon.toml` lists words and forms by what they say; which of them are used for what is in the modules that read it.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any, NamedTuple

LEXICON: dict[str, Any] = tomllib.loads(Path(__file__).with_name("lexicon.toml").read_text(encoding="utf-8"))

MONTHS, DAYS, NUMBERS, ORDINALS = (
    LEXICON["words"][name].split() for name in ("months", "days", "number", "ordinal_word")
)
_PART = re.compile(r"(?<!\?P)<(\w+)>")
"""A part that a form refers to; a group of that form is written `(?P<name>`."""


def pattern(source: str) -> re.Pattern[str]:
    """A pattern that ignores case."""
    return re.compile(source, re.IGNORECASE)


def part(name: str) -> str:
    """A part that forms refer to: one that the lexicon has for this, another form, or any of a list of words."""
    if name in LEXICON["words"]:
        return "|".join(LEXICON["words"][name].split())
    return whole(LEXICON["parts"].get(name) or LEXICON["forms"][name])


def whole(alternatives: list[str]) -> str:
    """Alternatives of the lexicon as one, with the parts that they refer to."""
    return _PART.sub(lambda match: f"(?:{part(match[1])})", "|".join(alternatives))


FORMS = {name: pattern(whole(alternatives)) for name, alternatives in LEXICON["forms"].items()}
WORDS = {name: frozenset(listed.split()) for name, listed in LEXICON["words"].items()}


class Reader(NamedTuple):
    """Reads the first group of its patterns, unless it is one of the words that look like a value and are none."""

    forms: tuple[re.Pattern[str], ...]
    none: frozenset[str]

    def read(self, text: str) -> str | None:
        """The first value in a text."""
        found = (match[1] for form in self.forms for match in form.finditer(text))
        return next((value for value in found if value.lower() not in self.none), None)


READERS = {
    name: Reader(tuple(map(pattern, thing["forms"])), frozenset(thing["none"].split()))
    for name, thing in LEXICON["things"].items()
}
"""The readers of what a sentence names. Their lists `none` have the words that are no values."""
