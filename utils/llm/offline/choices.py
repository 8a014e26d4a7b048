"""A word of a sentence as one of the values that a parameter allows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from utils.llm.offline.grammar import FORMS, LEXICON, part, pattern

_MEANS: dict[str, list[str]] = LEXICON["values"]
_WEAK = frozenset({"all", "any", "none"})
"""Values whose words say other things as well; they count only when no other value does."""


def choice(text: str, allowed: Sequence[str]) -> str | None:
    """The allowed value that the sentence names and does not deny, the most telling first; `None` when it names none."""
    lower = FORMS["said_of_a_person"].sub(" ", FORMS["did"].sub(r" \2d ", text.lower()))
    lower = FORMS["asked_of_it"].sub(" ", lower)
    lower = FORMS["still_to_come"].sub(" pending ", lower)
    if "all" in allowed and (FORMS["whatever"].search(text) or FORMS["both_states"].search(lower)):
        return "all"
    words = {
        value: [word for word in means(value) if word == value or word not in allowed] for value in allowed
    }
    lower = denied("|".join(re.escape(word) for own in words.values() for word in own)).sub(" ", lower)
    said = {value: place for value, own in words.items() if (place := _place(lower, own)) is not None}
    order = sorted(said, key=lambda value: (value in _WEAK, value not in lower, said[value]))
    return next(iter(order), None)


@lru_cache(maxsize=256)
def denied(words: str) -> re.Pattern[str]:
    """How a sentence says that it does not want what words stand for: "no drafts", "drafts excluded"."""
    return pattern(
        rf"{part('denies')}(?:{words})s?(?![\w/-])|\b(?:{words})s?\W+(?:(?:ones?|are)\W+)*(?:excluded|left out)\b"
    )


def means(value: str) -> list[str]:
    """Words that say a value."""
    return _MEANS.get(value.lower(), [value.lower().replace("_", " ")])


def _place(text: str, words: Sequence[str]) -> int | None:
    match = re.search(rf"(?<![\w/-])(?:{'|'.join(map(re.escape, words))})(?![\w/-])", text)
    return match.start() if match else None
