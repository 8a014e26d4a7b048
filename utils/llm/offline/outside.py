"""Requests that belong to no tool, as examples of their own: what is nearest to one of these is declined.

`outside.txt` has one a line: first those of any kind, and after an empty line commands to do something that no reading tool does.
"""

from __future__ import annotations

from pathlib import Path

_KINDS = Path(__file__).with_suffix(".txt").read_text(encoding="utf-8").split("\n\n")
OUTSIDE, ACTIONS = (tuple(lines.splitlines()) for lines in _KINDS)
"""A question about how something is done is none of `ACTIONS`."""
