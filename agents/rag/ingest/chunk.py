"""A document to chunks: sections are kept whole where they fit and are packed block by block where not.

Code blocks and tables are not split unless one alone is over the target; then at line ends, with
the fence or the header row repeated. Where a section is split between paragraphs, the next chunk
begins with the last sentence of the one before.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from agents.rag.ingest.document import BlockKind, Document, Section
from agents.rag.ingest.pieces import count_pieces
from agents.rag.ingest.split import Piece, last_sentence, split_block

_SLACK = 1.15
"""How far over the target a chunk may go to spare a section its split: 220 -> 253, within MiniLM's 256."""
_CRUMB = 0.25
"""Share of the target under which a section's last chunk joins the one before, within the slack."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A passage to index.

    Attributes:
        position: Place in the document, from 0.
        path: Headings above the passage, the document's title left out.
        anchor: Fragment that leads to the section; may be empty.
        text: The passage, with a repeated fence or table header where a block was split.
        start: First character in the document's text.
        end: One past the last.
        answered_by: Position of the passage that answers this one, where this one is a question.
    """

    position: int
    path: tuple[str, ...]
    anchor: str
    text: str
    start: int
    end: int
    answered_by: int | None = None


def chunk_document(document: Document, target: int, overlap: int = 32) -> list[Chunk]:
    """Cut a document.

    Args:
        document: What to cut.
        target: Word pieces that a chunk should have at most.
        overlap: Word pieces of the previous chunk that are repeated at most.
    """
    chunks: list[Chunk] = []
    for section in document.sections:
        for group in _groups(section, document.text, target):
            start = group[0].start
            if chunks and chunks[-1].end <= start and _continues(chunks[-1], section, group[0]):
                start = last_sentence(document.text, chunks[-1].start, chunks[-1].end, overlap) or start
            text = document.text[start : group[0].start] + _joined(group, document.text)
            chunks.append(Chunk(len(chunks), section.path, section.anchor, text, start, group[-1].end))
    return chunks


def _continues(previous: Chunk, section: Section, piece: Piece) -> bool:
    same = previous.path == section.path and previous.anchor == section.anchor
    ends_in_text = any(b.end == previous.end and b.kind is BlockKind.TEXT for b in section.blocks)
    return same and (ends_in_text or piece.continued) and piece.kind is BlockKind.TEXT


def _groups(section: Section, text: str, target: int) -> Iterator[list[Piece]]:
    limit = int(target * _SLACK)
    whole = [Piece(block.start, block.end, block.kind) for block in section.blocks]
    if not whole:
        return
    if count_pieces(text[whole[0].start : whole[-1].end]) <= limit:
        yield whole
        return
    pieces = [piece for block in section.blocks for piece in split_block(block, text, target)]
    yield from _merge_crumb(_pack(pieces, text, target), text, target)


def _pack(pieces: list[Piece], text: str, target: int) -> list[list[Piece]]:
    groups: list[list[Piece]] = []
    size = target + 1
    for piece in pieces:
        cost = count_pieces(piece.render(text))
        if size + cost > target:
            groups.append([])
            size = 0
        groups[-1].append(piece)
        size += cost
    return groups


def _merge_crumb(groups: list[list[Piece]], text: str, target: int) -> list[list[Piece]]:
    if len(groups) < 2:  # noqa: PLR2004 - a crumb needs a neighbour
        return groups
    sizes = [sum(count_pieces(piece.render(text)) for piece in group) for group in groups[-2:]]
    if sizes[1] < target * _CRUMB and sum(sizes) <= target * _SLACK:
        return [*groups[:-2], groups[-2] + groups[-1]]
    return groups


def _joined(group: list[Piece], text: str) -> str:
    parts = [group[0].render(text)]
    for before, piece in pairwise(group):
        parts.append(text[before.end : piece.start] or "\n")
        parts.append(piece.render(text))
    return "".join(parts)
