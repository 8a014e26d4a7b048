"""The words of a passage that its vector is made from."""

from __future__ import annotations

import re

_LINK_TARGET = re.compile(r"(?<=\])\((?:<[^<>\n]*>|(?:[^()\s]|\([^()\s]*\))*)(?:\s+\"[^\"]*\")?\)")
_RULES = re.compile(r"^[|:\- ]+$", re.MULTILINE)


def passage_text(title: str, heading: str, body: str) -> str:
    """Title and headings before the text, without addresses of links and rules of tables."""
    path = ". ".join(part for part in (title, *heading.split("\n")) if part)
    text = _RULES.sub("", _LINK_TARGET.sub("", body))
    return f"{path}\n{text}" if path else text
