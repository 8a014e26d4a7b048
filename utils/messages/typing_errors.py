"""Words with one typing error, read as a word that is known. Pure.

One error is a letter too many, one that is missing, one for another, or two neighbours that changed places. The first letter is
taken for right, since few mistype it, and short words are left alone, since one letter more or less makes another word of them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable

SHORTEST = 4
"""Letters of a word from which an error is looked for; what was meant has one more at least, as of "isue"."""
_WORD = re.compile(rf"(?<![\w/.@#-])[A-Za-z]{{{SHORTEST},}}(?![\w/@-]|\.\w)")


def plain_words(text: str) -> list[str]:
    """The words of a text that may have a typing error, in lower case: no names of files, accounts or settings."""
    return list(dict.fromkeys(_plain(text)))


def _plain(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]


def mended(text: str, meant: Callable[[str], str | None]) -> str:
    """A text with some of its words replaced.

    Args:
        text: The typed text.
        meant: The word that a lower-case word was meant to be; `None` if it is right or no word is near.
    """
    return _WORD.sub(lambda match: meant(match[0].lower()) or match[0], text)


def counted(texts: Iterable[str]) -> dict[str, int]:
    """How often texts have each of their plain words, the most frequent first."""
    return dict(Counter(word for text in texts for word in _plain(text)).most_common())


def mended_by(text: str, texts: Iterable[str]) -> str:
    """A text with each word that other texts do not have, and that is one typing error from a word of them, replaced by that word."""
    known = counted(texts)
    return mended(text, lambda word: None if word in known else nearest(word, known))


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word that is one typing error from `word`: the first, where others are longer or shorter forms of it.

    `None` if there is none, or if it is ambiguous: "loging" may be "login" or "logging". All are in lower case.
    """
    near = [each for each in known if _may_be(word, each) and _one_error(word, each)]
    begins = min(near, key=len)[:-1] if near else ""
    return near[0] if near and all(each.startswith(begins) for each in near) else None


def _may_be(word: str, other: str) -> bool:
    """A cheap check of whether two words can differ by one error only."""
    longer = len(other) - len(word)
    return word[:1] == other[:1] and word != other and -1 <= longer <= 1 and len(other) > SHORTEST


def _one_error(word: str, other: str) -> bool:
    """Whether two different words differ in one place, or in two neighbours that changed places."""
    short, long = sorted((word, other), key=len)
    at = next((at for at, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short))
    if len(short) < len(long):
        return short[at:] == long[at + 1 :]
    swapped = short[at + 1 : at + 2] + short[at : at + 1] == long[at : at + 2]
    return short[at + 1 :] == long[at + 1 :] or (swapped and short[at + 2 :] == long[at + 2 :])
