"""Divides a text into words, also where a language writes no blanks between them. Pure."""

from __future__ import annotations

import re
from functools import lru_cache

_UNSPACED = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\uac00-\ud7af\u0e00-\u0e7f"
"""Kana, Han, Hangul and Thai: scripts without blanks between words, or with endings joined to them."""

_RUNS = re.compile(rf"[{_UNSPACED}]+|(?:(?![{_UNSPACED}])[\w])+")
_SOME = re.compile(rf"[{_UNSPACED}]")
_REMEMBERED = 65_536


def has_unspaced(text: str) -> bool:
    """Whether a text has characters of a script without blanks."""
    return _SOME.search(text) is not None


def words_of(text: str) -> list[str]:
    """The words of a text in lower case; of a script without blanks, each pair of neighbouring characters."""
    return [word for run in _RUNS.findall(text.lower()) for word in _parts(run)]


@lru_cache(maxsize=_REMEMBERED)
def _parts(run: str) -> tuple[str, ...]:
    if len(run) == 1 or not _SOME.match(run):
        return (run,)
    return tuple(run[place : place + 2] for place in range(len(run) - 1))
