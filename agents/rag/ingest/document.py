"""A document as every loader returns it: normalised text and, over it, sections made of blocks."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class BlockKind(StrEnum):
    """What a block is, which decides whether and where it may be split."""

    TEXT = "text"
    ITEM = "item"
    CODE = "code"
    TABLE = "table"


@dataclass(frozen=True, slots=True)
class Block:
    """A span of the document's text: `text[start:end]`, in characters."""

    start: int
    end: int
    kind: BlockKind


@dataclass(frozen=True, slots=True)
class Section:
    """What stands under one heading, up to the next heading of any level.

    Attributes:
        path: Headings from the top of the document down to this one, the title left out.
        anchor: Fragment that leads to the heading in the source; empty before the first heading.
        blocks: In reading order. A section may have none (a heading directly over a sub-heading).
    """

    path: tuple[str, ...]
    anchor: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Document:
    """A parsed document. `text` is readable Markdown, whatever the source's format was."""

    title: str
    text: str
    sections: tuple[Section, ...]


@dataclass(slots=True)
class _OpenSection:
    headings: tuple[str, ...]
    anchor: str
    blocks: list[Block] = field(default_factory=list)


class DocumentBuilder:
    """Collects headings and blocks in reading order and lays them out as one text."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = 0
        self._stack: list[tuple[int, str]] = []
        self._sections = [_OpenSection((), "")]
        self._first_heading: str | None = None

    def heading(self, level: int, text: str, anchor: str) -> None:
        """Begin a section under a heading of this level (1 is the highest)."""
        text, anchor = " ".join(_encodable(text).split()), _encodable(anchor)
        if not text:
            return
        self._first_heading = self._first_heading or text
        while self._stack and self._stack[-1][0] >= level:
            self._stack.pop()
        self._stack.append((level, text))
        self._append(f"{'#' * level} {text}", "\n\n")
        self._sections.append(_OpenSection(tuple(name for _, name in self._stack), anchor))

    def add(self, text: str, kind: BlockKind = BlockKind.TEXT) -> None:
        """Append a block to the current section; blank text is ignored."""
        text = _encodable(text).strip("\n").rstrip()
        if not text.strip():
            return
        blocks = self._sections[-1].blocks
        tight = kind is BlockKind.ITEM and bool(blocks) and blocks[-1].kind is BlockKind.ITEM
        start = self._append(text, "\n" if tight else "\n\n")
        blocks.append(Block(start, self._length, kind))

    def build(self, title: str | None, fallback_title: str) -> Document:
        """The document. Its title is the given one, else the first heading, else the fallback."""
        chosen = " ".join(_encodable(title or self._first_heading or fallback_title).split())
        sections = tuple(
            Section(_without_title(section.headings, chosen), section.anchor, tuple(section.blocks))
            for section in self._sections
        )
        return Document(chosen, "".join(self._parts), sections)

    def _append(self, text: str, separator: str) -> int:
        if self._parts:
            self._parts.append(separator)
            self._length += len(separator)
        start = self._length
        self._parts.append(text)
        self._length += len(text)
        return start


def _encodable(text: str) -> str:
    """The text with `?` for half characters, which no database takes; PDFs and odd encodings have them."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _without_title(path: tuple[str, ...], title: str) -> tuple[str, ...]:
    return path[1:] if path and path[0] == title else path
