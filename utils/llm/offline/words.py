"""Words of a text in a form that two texts can be compared by, and whether they are English."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

from utils.llm.offline.grammar import LEXICON, WORDS, pattern
from utils.messages.typing_errors import mended, nearest

_WORD = re.compile(r"[^\W_][\w.\-]*[^\W_]|[^\W_]")
_SHORT_FORMS = {form.strip(): usual for usual, forms in LEXICON["short"].items() for form in forms.split(",")}
_SHORT = pattern(rf"(?<![\w./#-])({'|'.join(sorted(_SHORT_FORMS, key=len, reverse=True))})(?![\w/-])(?!\.\w)")
_TRADE = tuple(LEXICON["words"]["trade"].split())
_ENDINGS = ("ings", "ing", "ies", "ied", "ers", "ed", "es", "er", "s", "e", "y")
MIN_STEM = 4
KEPT = 128
"""Texts whose reading is kept: each tool that a clause is compared with reads it again."""


@lru_cache(maxsize=KEPT)
def spelled_out(text: str) -> str:
    """Names of the trade in their usual words, by which tools are found: "PRs" becomes "pull requests", and so does "pull reqests"."""
    text = _SHORT.sub(lambda match: _SHORT_FORMS[match[1].lower()], text)
    return mended(text, _trade_word)


@lru_cache(maxsize=4096)
def _trade_word(word: str) -> str | None:
    """The word of the trade that a word was meant to be."""
    return None if stem(word) in map(stem, _TRADE) else nearest(word, _TRADE)


def words(text: str) -> list[str]:
    """Lower-case words of a text, in order."""
    return _WORD.findall(text.lower())


def stem(word: str) -> str:
    """A word without its ending, so that "truncated" and "truncation" meet half-way."""
    word = word.removesuffix("ation").removesuffix("ion") if len(word) > MIN_STEM + 3 else word
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= MIN_STEM - 1:
            return word[: -len(ending)]
    return word


@lru_cache(maxsize=4096)
def content_stems(text: str) -> tuple[str, ...]:
    """Stems of the words that carry meaning."""
    return tuple(stem(word) for word in words(spelled_out(text)) if word not in WORDS["stop"])


def overlap(wanted: Iterable[str], present: Iterable[str]) -> float:
    """Share of the wanted stems that are present, 0 to 1."""
    wanted_set = set(wanted)
    return len(wanted_set & set(present)) / len(wanted_set) if wanted_set else 0.0


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
    english = WORDS["english"] - WORDS["foreign_function"]
    if len(found) >= _FEWEST and not text.isascii() and not english.intersection(found):
        return any(char.isalpha() and not char.isascii() for char in text)  # "Pokaż otwarte zgłoszenia"
    foreign = sum(word in WORDS["foreign"] - WORDS["english"] for word in found)
    usual = sum(word in english for word in found)
    weak = sum(word in WORDS["foreign_function"] for word in found)  # some of them are English words too
    return (foreign >= _FEWEST and foreign > usual) or (foreign > 0 and foreign + weak > _FEWEST + usual)


def foreign_words(text: str) -> list[str]:
    """The words of a foreign text that are no common ones, names left out: what it asks for, which this model cannot tell."""
    found = re.findall(r"[^\W\d_]+", _NAMES.sub(" ", text))
    return [
        word
        for word in dict.fromkeys(found)
        if word.lower() not in WORDS["foreign"] | WORDS["foreign_function"] | WORDS["english"]
    ]
