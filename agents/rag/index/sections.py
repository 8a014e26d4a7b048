"""A document's text or that of one section, and the names that resemble one which no document has. Reads no index."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher


@dataclass(frozen=True, slots=True)
class Text:
    """A document's text, or that of one section.

    Attributes:
        source: Name of the document.
        title: Its title.
        text: What was asked for, with the sections below it.
        anchor: Of the section; empty for a whole document.
        sections: Anchor and heading of each section of the whole document.
        own: The section without those below it; empty for a whole document.
    """

    source: str
    title: str
    text: str
    anchor: str
    sections: tuple[tuple[str, str], ...]
    own: str = ""


@dataclass(frozen=True, slots=True)
class Span:
    """What the passages of one section cover of the document's text; headings one a line."""

    anchor: str
    heading: str
    first: int
    last: int


def text_of(source: str, title: str, text: str, spans: Sequence[Span], anchor: str) -> Text:
    """The section at `anchor` with those below it; the whole document where it has no such section.

    `spans` has one for each section, in reading order.
    """
    sections = tuple((span.anchor, span.heading.rpartition("\n")[2]) for span in spans if span.anchor)
    part = next((span for span in spans if anchor and span.anchor == anchor), None)
    if part is None:
        return Text(source, title, text, "", sections)
    last = max(span.last for span in spans if span is part or _is_below(span, part))
    return Text(source, title, text[part.first : last], anchor, sections, text[part.first : part.last])


def closest(names: Sequence[tuple[str, str]], wanted: str, limit: int) -> list[tuple[str, str]]:
    """Those names and titles that resemble `wanted` most, best first."""
    sought = wanted.lower()

    def likeness(row: tuple[str, str]) -> float:
        return max(SequenceMatcher(None, sought, text.lower()).ratio() for text in row)

    return sorted(names, key=likeness, reverse=True)[:limit]


def _is_below(section: Span, parent: Span) -> bool:
    return bool(
        parent.heading and section.heading.startswith(parent.heading + "\n") and section.first > parent.first
    )
