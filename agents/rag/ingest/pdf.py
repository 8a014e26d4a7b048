"""PDF to a document: one section a page, under the outline's heading where the file has an outline."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from agents.rag.ingest.document import Document, DocumentBuilder
from agents.rag.ingest.text import paragraphs
from utils.errors import IngestFailed

if TYPE_CHECKING:
    from pypdf import PdfReader

MAX_PAGES = 2000
_HYPHENATED = re.compile(r"(?<=[a-z])-\n(?=[a-z])")


def parse_pdf(data: bytes, fallback_title: str) -> Document:
    """Parse a PDF's text layer.

    Raises:
        IngestFailed: The file is broken, needs a password, or has no text (a scan).
    """
    from pypdf.errors import PyPdfError

    try:
        return _parse(data, fallback_title)
    except (PyPdfError, RecursionError, MemoryError, *_BROKEN) as error:
        raise IngestFailed("is not a readable PDF") from error


_BROKEN = (
    ValueError,
    KeyError,
    IndexError,
    TypeError,
    AttributeError,
    AssertionError,
    OSError,
    ArithmeticError,
)
"""What pypdf lets through when a file's inner structure is damaged."""


def _parse(data: bytes, fallback_title: str) -> Document:
    from pypdf import PdfReader

    reader = PdfReader(io.BytesIO(data), strict=False)
    if reader.is_encrypted and not reader.decrypt(""):
        raise IngestFailed("is protected by a password")
    headings = dict(_outline(reader))
    builder, found = DocumentBuilder(), False
    for number, page in enumerate(reader.pages[:MAX_PAGES], start=1):
        text = _HYPHENATED.sub("", page.extract_text())
        for level, heading in headings.get(number, []):
            builder.heading(level, heading, f"page={number}")
        builder.heading(_DEEPEST, f"Page {number}", f"page={number}")
        for paragraph in paragraphs(text):
            found = True
            builder.add(paragraph)
    if not found:
        raise IngestFailed("has no text layer (it may be a scan)")
    title = reader.metadata.title if reader.metadata else None
    return builder.build(str(title) if title else fallback_title, fallback_title)


_DEEPEST = 6


def _outline(reader: PdfReader) -> Iterator[tuple[int, list[tuple[int, str]]]]:
    """Headings by page number, as (level, text); nothing when the outline is damaged."""
    by_page: dict[int, list[tuple[int, str]]] = {}
    try:
        _collect(reader, reader.outline, 1, by_page)
    except _BROKEN:
        return
    yield from by_page.items()


def _collect(reader: PdfReader, entries: Any, level: int, into: dict[int, list[tuple[int, str]]]) -> None:
    for entry in entries:
        if isinstance(entry, list):
            _collect(reader, entry, min(level + 1, _DEEPEST - 1), into)
            continue
        page = reader.get_destination_page_number(entry)
        if page is not None and page >= 0 and entry.title:
            into.setdefault(page + 1, []).append((level, str(entry.title)))
