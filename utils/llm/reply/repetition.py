"""Recognises a text that has begun to repeat itself without end. Pure."""

from __future__ import annotations

import re

_WINDOW = 6_000
"""Characters at the end of a text that are looked at."""

_LEAST_REPEATED = 3_000
"""Characters that the repetitions of one unit must fill."""

_LEAST_TIMES = 6
_LONGEST_UNIT = 200
_BARE = re.compile(r"[\w]")


def repeated_from(text: str) -> int | None:
    """The position after the first occurrence of what a text repeats at its end; `None` if it does not repeat.

    A unit of at most 200 characters must occur at least six times in a row and fill 3,000 characters. A unit
    without letters or digits, as the line of a table or indentation, must fill twice as much.
    """
    if len(text) < _LEAST_REPEATED:
        return None
    unit = _unit(text[-_WINDOW:])
    if unit is None:
        return None
    start = len(text)
    while start >= unit and text[start - unit : start] == text[-unit:]:
        start -= unit
    return start + unit


def _unit(tail: str) -> int | None:
    """Length of the shortest unit that the end of a text consists of."""
    last = tail[-24:]
    at = tail.rfind(last, 0, len(tail) - 1)
    while at >= 0:
        unit = len(tail) - len(last) - at
        if unit > _LONGEST_UNIT:
            return None
        least = max(
            _LEAST_REPEATED if _BARE.search(tail[-unit:]) else 2 * _LEAST_REPEATED, _LEAST_TIMES * unit
        )
        if len(tail) >= least and tail[-least:] == (tail[-unit:] * (least // unit + 1))[-least:]:
            return unit
        at = tail.rfind(last, 0, at + len(last) - 1)
    return None
