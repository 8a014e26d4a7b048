"""The sentences of a message that can be understood by themselves."""

from __future__ import annotations

import re

_END = re.compile(r"(?<=[.?!;:])\s+|\n+|\s+[-\u2013\u2014]+\s+|\.\.\.\s*|\u2026\s*")
_FEWEST_WORDS = 4
"""Fewer say nothing alone: "How often?", "Any ideas?"."""
_MOST = 6


def sentences(text: str) -> list[str]:
    """The sentences of four words or more, the first six; none where the text is a single one."""
    found = [part.strip() for part in _END.split(text)]
    found = [part for part in found if len(part.split()) >= _FEWEST_WORDS]
    return found[:_MOST] if any(part != text.strip() for part in found) else []
