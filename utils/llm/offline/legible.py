"""How much of a request is read: no more than people write by hand, since some patterns take the square of a text's length or more.

What is handed on to an agent is not this but the user's words as they are.
"""

from __future__ import annotations

import re
from typing import NamedTuple

READ = 8_000
"""Characters of a request that are read, half of them at its end, where a question below a pasted text stands."""
LONGEST_WORD = 400
"""Characters of a word that are read: more than addresses, paths and names have, and fewer digits than Python takes for a number."""
LONGEST_GAP = 40
"""Blanks in a row that are read: more than people indent by."""

_WORD = re.compile(rf"(?<!\S)(\S{{{LONGEST_WORD}}})\S+")
_GAP = re.compile(rf"(?<!\s)(\s{{{LONGEST_GAP}}})\s+")


class Legible(NamedTuple):
    """The part of a text that is read. `cut`: more than blanks was left out."""

    text: str
    cut: bool


def legible(text: str) -> Legible:
    """A text with its endless words and gaps cut, and of a long one the lines at its beginning and its end."""
    text, words_cut = _WORD.subn(r"\1", _GAP.sub(r"\1", text))
    if len(text) <= READ:
        return Legible(text, words_cut > 0)
    head, tail = text[: READ // 2], text[-READ // 2 :]
    whole_lines = head.rfind("\n") + 1, tail.find("\n") + 1
    return Legible(f"{head[: whole_lines[0] or None]}\n{tail[whole_lines[1] :]}", cut=True)
