"""Shortens a text for a store, and reads from a stored text how much is missing. Pure.

The number of missing characters is written into the text itself, because a store holds plain texts only.
"""

from __future__ import annotations

import re

_GAP = "\n[…]\n"
_NOTE = re.compile(
    r"^\[not the whole text: ([\d,]+) characters in the middle were not stored\]$", re.MULTILINE
)


def ends_of(text: str, most: int) -> str:
    """The text, or its head and tail in `most` characters with a last line that says how much is missing."""
    if len(text) <= most:
        return text
    missing = len(text) - most
    head = text[: most // 2]
    tail = text[len(head) + missing :]
    return f"{head}{_GAP}{tail}\n[not the whole text: {missing:,} characters in the middle were not stored]"


def missing_from(text: str) -> int:
    """Number of characters missing from a stored text; 0 if it is complete."""
    return sum(int(found.replace(",", "")) for found in _NOTE.findall(text))
