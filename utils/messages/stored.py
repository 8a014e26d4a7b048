"""What a stored text says of itself where it is not whole. Pure.

A store holds plain texts, so the gap is written down in one form, here, and read back here.
"""

from __future__ import annotations

import re

_GAP = "\n[…]\n"
_NOTE = re.compile(
    r"^\[not the whole text: ([\d,]+) characters in the middle were not stored\]$", re.MULTILINE
)


def ends_of(text: str, most: int) -> str:
    """The text, or its two ends in `most` characters and, as its last line, how much is missing between them."""
    if len(text) <= most:
        return text
    missing = len(text) - most
    head = text[: most // 2]
    tail = text[len(head) + missing :]
    return f"{head}{_GAP}{tail}\n[not the whole text: {missing:,} characters in the middle were not stored]"


def missing_from(text: str) -> int:
    """Characters that a stored text says it is missing; 0 where it is whole."""
    return sum(int(found.replace(",", "")) for found in _NOTE.findall(text))
