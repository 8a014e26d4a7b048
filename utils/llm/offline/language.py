"""Whether a request is in a language other than English, which this model cannot read."""

from __future__ import annotations

import re
import unicodedata

from utils.llm.offline.grammar import WORDS

_FEWEST = 2
_NAMES = re.compile(r"[\w.-]+/[\w./-]+")


def is_foreign(text: str) -> bool:
    """By its letters, or by its common words where they are no English ones."""
    text = _NAMES.sub(" ", text)
    letters = [char for char in text if char.isalpha()]
    latin = sum(unicodedata.name(char, "").startswith("LATIN") for char in letters)
    if (letters and latin * 2 < len(letters)) or text.lstrip().startswith(("¿", "¡")):
        return True
    found = re.findall(r"[^\W\d_]+", text.lower())
    if len(found) >= _FEWEST and not text.isascii() and not WORDS["english"].intersection(found):
        return any(char.isalpha() and not char.isascii() for char in text)  # "Pokaż otwarte zgłoszenia"
    foreign = sum(word in WORDS["foreign"] - WORDS["english"] for word in found)
    english = sum(word in WORDS["english"] - WORDS["foreign_function"] for word in found)
    weak = sum(word in WORDS["foreign_function"] for word in found)  # some of them are English words too
    return (foreign >= _FEWEST and foreign > english) or (foreign > 0 and foreign + weak > _FEWEST + english)


def foreign_words(text: str) -> list[str]:
    """The words of a foreign text that are no common ones, names left out: what it asks for, which this model cannot tell."""
    found = re.findall(r"[^\W\d_]+", _NAMES.sub(" ", text))
    return [
        word
        for word in dict.fromkeys(found)
        if word.lower() not in WORDS["foreign"] | WORDS["foreign_function"] | WORDS["english"]
    ]
