"""Cuts the long lists and tables of an answer, so that the question stays on the screen. Pure.

Nothing is lost: what was cut is given page by page.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

SHOWN = 12
"""Rows of a list that are shown at once."""

FEW = 3
"""A list that is longer by no more than this is shown whole."""

_ROW = re.compile(r"\s*\|.*\|\s*$")
_RULE = re.compile(r"\s*\|[\s:|-]+\|\s*$")
_ITEM = re.compile(r"([-*+]|\d+[.)]) ")
_FENCE = re.compile(r"\s*(```|~~~)")


@dataclass(frozen=True, slots=True)
class Pages:
    """An answer as it is shown at first, and what comes after it.

    Attributes:
        first: The answer with its long lists cut.
        rest: The rows that were cut, in pages with the head of their table.
        rows: How many rows each page of the rest has.
    """

    first: str
    rest: Sequence[str] = ()
    rows: Sequence[int] = ()

    @property
    def left(self) -> int:
        """How many rows are not shown yet."""
        return sum(self.rows)

    def next(self) -> Pages:
        """The next page, and what comes after it."""
        return Pages(self.rest[0], self.rest[1:], self.rows[1:])


def pages(text: str) -> Pages:
    """The answer with each long list cut after some rows."""
    first: list[str] = []
    rest: list[str] = []
    rows: list[int] = []
    for head, items in _blocks(text.splitlines()):
        if len(items) <= SHOWN + FEW:
            first += [*head, *items]
            continue
        first += [*head, *items[:SHOWN]]
        for begin in range(SHOWN, len(items), SHOWN):
            page = items[begin : begin + SHOWN]
            rest.append("\n".join([*head, *page]))
            rows.append(len(page))
    return Pages("\n".join(first), rest, rows) if rest else Pages(text)


def _blocks(lines: Sequence[str]) -> Iterator[tuple[list[str], list[str]]]:
    """The text in order: the two head lines of a table with its rows, a list without a head, and other lines."""
    at, fenced = 0, False
    while at < len(lines):
        fenced ^= bool(_FENCE.match(lines[at]))
        if not fenced and _begins_table(lines, at):
            end = _end(lines, at + 2, _ROW)
            yield list(lines[at : at + 2]), list(lines[at + 2 : end])
        elif not fenced and _ITEM.match(lines[at]):
            end = _end(lines, at, _ITEM)
            yield [], list(lines[at:end])
        else:
            end = at + 1
            yield list(lines[at:end]), []
        at = end


def _begins_table(lines: Sequence[str], at: int) -> bool:
    return at + 1 < len(lines) and bool(_ROW.match(lines[at]) and _RULE.match(lines[at + 1]))


def _end(lines: Sequence[str], at: int, form: re.Pattern[str]) -> int:
    while at < len(lines) and form.match(lines[at]):
        at += 1
    return at
