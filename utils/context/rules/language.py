"""What the rules of one language are made of, and how they are applied to a sentence. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

VALUE = r"[\"'`“«「]?(?-i:(?=\S*[A-Z0-9@/_:.-]\S))\S"
"""The beginning of a value: a name, a number, an address. What is no value ("our cluster is down") states no rule."""


class LanguageRules(NamedTuple):
    """The patterns of one language.

    Attributes:
        states: A sentence that matches one of these states a rule,
        unless: except where it matches one of these: idioms, remarks, requests for this once, reported speech.
        asks: A question that matches one of these states a rule, in the form of a polite request.
        forget: A sentence that revokes rules; groups `whose`, `many`, `what`.
        allow: A sentence that permits again what a rule forbids; group `what`.
    """

    states: tuple[re.Pattern[str], ...]
    unless: tuple[re.Pattern[str], ...]
    forget: re.Pattern[str]
    allow: re.Pattern[str]
    asks: tuple[re.Pattern[str], ...] = ()

    def matches(self, sentence: str, *, question: bool) -> bool:
        """Whether a sentence states a rule in this language."""
        patterns = self.asks if question else self.states
        if not any(pattern.search(sentence) for pattern in patterns):
            return False
        return question or not any(pattern.search(sentence) for pattern in self.unless)


def patterns(opening: str, sources: Sequence[str]) -> tuple[re.Pattern[str], ...]:
    """Compiled patterns; `^^` is the beginning of a sentence after words such as "please" and "also"."""
    return tuple(re.compile(source.replace("^^", opening), re.IGNORECASE) for source in sources)
