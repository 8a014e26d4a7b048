"""A word of a sentence as one of the values that a parameter allows."""

from __future__ import annotations

import re
from collections.abc import Sequence

from utils.llm.offline.grammar import LEXICON, pattern

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
    """The allowed value that the sentence names, the most telling first; `None` when it names none."""
    lower = _DID.sub(r" \2d ", text.lower())
    lower = _STILL_TO_COME.sub(" pending ", _SAID_OF_A_PERSON.sub(" ", lower))
    both = r"\bopen(ed)? (\w+ ){0,2}(and|or|as well as|vs\.?|versus|than) (the )?closed\b|\bclosed and open\b"
    if "all" in allowed and (_WHATEVER.search(text.lower()) or re.search(both, lower)):
        return "all"
    exact = sorted((value for value in allowed if value not in _WEAK), key=lambda value: value not in lower)
    for value in (*exact, *(value for value in allowed if value in _WEAK)):
        if any(_has(lower, word) for word in means(value)):
            return value
    return None


def means(value: str) -> list[str]:
    """Words that say a value."""
    return _MEANS.get(value.lower(), [value.lower().replace("_", " ")])


def _has(text: str, word: str) -> bool:
    return re.search(rf"(?<![\w/-]){re.escape(word)}(?![\w/-])", text) is not None


STATE_WORDS = pattern(
    r"(?<![\w/-])(open|opened|closed|merged|unmerged|all|failed|failing|successful|passed|running|queued|cancelled)(?![\w/-])"
)
"""Words that a follow-up may put in place of each other ("and the closed ones?")."""
