"""Markdown as blocks: paragraphs, lists, code, tables, quotes, headings, in reading order."""

from __future__ import annotations

import re
from enum import Enum
from typing import NamedTuple

_FENCE = re.compile(r"^\s*(```+|~~~+)")
_LIST = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+")
_HEADING = re.compile(r"^#{1,6}\s+(.*?)\s*#*$")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z`\"'(\[])")


class Kind(Enum):
    """What a block is."""

    PARAGRAPH = "paragraph"
    LIST = "list"
    CODE = "code"
    TABLE = "table"
    QUOTE = "quote"
    HEADING = "heading"


class Block(NamedTuple):
    """One block with its text as it stood."""

    kind: Kind
    text: str


def blocks(markdown: str) -> list[Block]:
    """The blocks of a text. A fence that is never closed ends with the text, and is closed."""
    found: list[Block] = []
    lines = markdown.strip("\n").split("\n")
    index = 0
    while index < len(lines):
        if not lines[index].strip():
            index += 1
            continue
        end = _end(lines, index)
        found.append(_block(lines[index:end]))
        index = end
    return found


def sentences(paragraph: str) -> list[str]:
    """The sentences of a paragraph, its lines joined."""
    return _SENTENCE_END.split(" ".join(paragraph.split()))


def heading_text(block: Block) -> str:
    """The words of a heading."""
    match = _HEADING.match(block.text)
    return match[1] if match else block.text


def demoted(markdown: str, levels: int = 1) -> str:
    """A text with its headings some levels lower, so that it can stand under a heading."""
    shown = []
    fenced = False
    for line in markdown.split("\n"):
        fenced ^= bool(_FENCE.match(line))
        is_heading = not fenced and _HEADING.match(line)
        shown.append("#" * levels + line if is_heading and not line.startswith("#" * (7 - levels)) else line)
    return "\n".join(shown)


def _end(lines: list[str], start: int) -> int:
    fence = _FENCE.match(lines[start])
    if fence:
        closing = (i for i in range(start + 1, len(lines)) if lines[i].strip().startswith(fence[1]))
        return min(next(closing, len(lines)) + 1, len(lines))
    if _HEADING.match(lines[start]):
        return start + 1
    if _LIST.match(lines[start]):
        return _list_end(lines, start)
    end = start + 1
    while end < len(lines) and lines[end].strip() and not _starts_new(lines[end]):
        end += 1
    return end


def _list_end(lines: list[str], start: int) -> int:
    """A list goes on over blank lines as long as items or indented lines follow."""
    end = start + 1
    while end < len(lines):
        line = lines[end]
        following = next((later for later in lines[end:] if later.strip()), "")
        goes_on = _LIST.match(following) or following.startswith(("  ", "\t"))
        if (not line.strip() and not goes_on) or (
            line.strip() and not goes_on and not lines[end - 1].strip()
        ):
            break
        if _HEADING.match(line) or (_FENCE.match(line) and not line.startswith((" ", "\t"))):
            break
        end += 1
    return end


def _starts_new(line: str) -> bool:
    return bool(_FENCE.match(line) or _HEADING.match(line) or _LIST.match(line))


def _block(lines: list[str]) -> Block:
    text = "\n".join(lines).rstrip()
    fence = _FENCE.match(text)
    if fence:
        closed = len(lines) > 1 and lines[-1].strip().startswith(fence[1])
        return Block(Kind.CODE, text if closed else f"{text}\n{fence[1]}")
    if _HEADING.match(text):
        return Block(Kind.HEADING, text)
    if _LIST.match(text):
        return Block(Kind.LIST, text)
    if text.startswith("|"):
        return Block(Kind.TABLE, text)
    return Block(Kind.QUOTE if text.startswith(">") else Kind.PARAGRAPH, text)
