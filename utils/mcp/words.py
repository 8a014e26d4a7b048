"""Puts a server's text on one line. Pure."""

from __future__ import annotations

import json
import re

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]+")


def plain(text: str, most: int) -> str:
    """A text on one line, without control and invisible characters, of `most` characters at most."""
    line = " ".join(_CONTROL.sub(" ", text).split())
    return line if len(line) <= most else line[: most - 1] + "…"


def quoted(text: str, most: int) -> str:
    """The same as a JSON string, so that the text cannot end the quotation."""
    return json.dumps(plain(text, most), ensure_ascii=False)
