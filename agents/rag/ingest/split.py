"""Cuts one block that is over the target: text at sentences, code and tables at lines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from agents.rag.ingest.document import Block, BlockKind
from agents.rag.ingest.pieces import count_pieces

_WIDE_STOPS = "\u3002\uff01\uff1f"  # of Chinese and Japanese, where no space follows
_SENTENCE_END = re.compile(rf"(?<=[.!?{_WIDE_STOPS}])[\"')\]]*\s+|(?<=[{_WIDE_STOPS}])|\n")
_LINE_END = re.compile(r"\n")
_WORD_END = re.compile(r"\s+")
_HARD_CUT = 400
"""Characters of a cut through text without spaces or line ends."""
_HEADER_ROWS = 2


@dataclass(frozen=True, slots=True)
class Piece:
    """A block or a part of one: a span, and what is repeated around it so that it reads alone."""

    start: int
    end: int
    kind: BlockKind
    prefix: str = ""
    suffix: str = ""
    continued: bool = False

    def render(self, text: str) -> str:
        """The piece as it stands in a chunk."""
        return f"{self.prefix}{text[self.start : self.end]}{self.suffix}"


def split_block(block: Block, text: str, target: int) -> list[Piece]:
    """The block in pieces of at most `target` word pieces; the block itself where it fits."""
    body = text[block.start : block.end]
    if count_pieces(body) <= target:
        return [Piece(block.start, block.end, block.kind)]
    prefix, suffix = _frame(block.kind, body)
    frame = count_pieces(prefix) + count_pieces(suffix)
    if frame > target // 2:
        prefix, suffix, frame = "", "", 0
    room = target - frame
    breaks = _LINE_END if block.kind in (BlockKind.CODE, BlockKind.TABLE) else _SENTENCE_END
    spans = list(_packed(body, list(_units(body, 0, len(body), breaks, room)), room))
    last = len(spans) - 1
    return [
        Piece(
            block.start + start,
            block.start + end,
            block.kind,
            prefix if number else "",
            suffix if number < last else "",
            continued=number > 0,
        )
        for number, (start, end) in enumerate(spans)
    ]


def last_sentence(text: str, start: int, end: int, limit: int) -> int | None:
    """Where the last sentence of `text[start:end]` begins, when it is at most `limit` pieces long."""
    ends = [start + found.end() for found in _SENTENCE_END.finditer(text[start:end])]
    begins = next((at for at in reversed(ends) if text[at:end].strip()), None)
    if begins is None or count_pieces(text[begins:end]) > limit:
        return None
    return begins


def _frame(kind: BlockKind, body: str) -> tuple[str, str]:
    lines = body.split("\n")
    if kind is BlockKind.TABLE and len(lines) > _HEADER_ROWS:
        return "\n".join(lines[:_HEADER_ROWS]) + "\n", ""
    fence = re.match(r"`{3,}|~{3,}", lines[0]) if kind is BlockKind.CODE else None
    return (lines[0] + "\n", "\n" + fence[0]) if fence else ("", "")


def _units(body: str, start: int, end: int, breaks: re.Pattern[str], room: int) -> Iterator[tuple[int, int]]:
    """Spans between breaks; one that is still too large is cut at words, then anywhere."""
    for low, high in _between(body, start, end, breaks):
        if count_pieces(body[low:high]) <= room:
            yield low, high
        elif breaks is not _WORD_END:
            yield from _units(body, low, high, _WORD_END, room)
        else:
            step = min(_HARD_CUT, room)
            yield from ((at, min(at + step, high)) for at in range(low, high, step))


def _between(body: str, start: int, end: int, breaks: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    at = start
    for found in breaks.finditer(body, start, end):
        if found.end() > at:
            yield at, found.end()
            at = found.end()
    if at < end:
        yield at, end


def _packed(body: str, units: list[tuple[int, int]], room: int) -> Iterator[tuple[int, int]]:
    begin, size = 0, 0
    for low, high in units:
        cost = count_pieces(body[low:high])
        if size and size + cost > room:
            yield begin, len(body[:low].rstrip())
            begin, size = low, 0
        size += cost
    yield begin, len(body)
