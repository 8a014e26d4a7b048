"""A word of a sentence as one of the values that a parameter allows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from utils.llm.offline.grammar import LEXICON, part, pattern

_MEANS: dict[str, list[str]] = LEXICON["values"]
_STILL_TO_COME = re.compile(
    r"\b(?:waiting|waits?|ready|left|yet|still|needs?|about|going|queued|not|never)\s+(?:to\s+be|to\s+get|to|for|be|been|an?)?\s*(?:a\s+)?(?:merged?|merging|closed?|closing)\b"
)
_SAID_OF_A_PERSON = re.compile(
    r"\b(?:was|were)\s+(?:it|they)\s+(?:opened|closed|merged)\b|\b(?:opened|closed|merged)\s+by\b|\bwho\s+(?:opened|closed|merged)\b"
)
"""No states: "waiting to be merged" is open, and "opened by mona" may be closed by now."""
_DID = re.compile(r"\bdid(?:n't)?\s+(\w+\s+){1,3}?(close|merge|resolve)\b")
"""Asks for what is in a state by the verb that leads to it: "did anyone close …"."""
_WHATEVER = re.compile(
    r"\b(?:no matter|regardless|irrespective|whether or not|does(?:n't| not) matter|don't care|do not care)\b[^,.;?!]*?"
    r"\b(?:state|status|open(?:ed)?|closed|merged)\b|\b(?:open(?:ed)?|closed|merged) or not\b"
)
"""Says that the state is no condition: "no matter whether it was closed"."""
_WEAK = frozenset({"all", "any", "none"})
"""Values whose words say other things as well; they count only when no other value does."""


def choice(text: str, allowed: Sequence[str]) -> str | None:
    """The allowed value that the sentence names and does not deny, the most telling first; `None` when it names none."""
    lower = _DID.sub(r" \2d ", text.lower())
    lower = _STILL_TO_COME.sub(" pending ", _SAID_OF_A_PERSON.sub(" ", lower))
    both = r"\bopen(ed)? (\w+ ){0,2}(and|or|as well as|vs\.?|versus|than|compared (to|with)|against) (the )?closed\b|\bclosed (\S+ ){0,3}(and|or|vs\.?|versus|compared (to|with)|against) (the )?open\b"
    if "all" in allowed and (_WHATEVER.search(text.lower()) or re.search(both, lower)):
        return "all"
    words = {
        value: [word for word in means(value) if word == value or word not in allowed] for value in allowed
    }
    lower = denied("|".join(re.escape(word) for own in words.values() for word in own)).sub(" ", lower)
    said = {value: place for value, own in words.items() if (place := _place(lower, own)) is not None}
    order = sorted(said, key=lambda value: (value in _WEAK, value not in lower, said[value]))
    return next((value for value in order if not _told_closer(value, order, lower)), None)


def _told_closer(value: str, said: Sequence[str], text: str) -> bool:
    """Whether another value that is said tells better which rows: "which of the closed ones were merged", "merged and closed"."""
    for other in said:
        joined = re.search(
            rf"\b(?:{value}|{other})(?:\W+\w+){{0,2}}\W+(?:and|or)\W+(?:\w+\W+){{0,2}}(?:{value}|{other})\b",
            text,
        )
        if other != value and (other in means(value) if not joined else value in means(other)):
            return True
    return False


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
