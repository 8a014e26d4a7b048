"""Plain text to a document: paragraphs between blank lines, no headings."""

from __future__ import annotations

import re

from agents.rag.ingest.document import Document, DocumentBuilder

_PARAGRAPHS = re.compile(r"\n[ \t]*\n+")


def parse_text(text: str, fallback_title: str) -> Document:
    """Parse plain text; the title is the fallback, since a first line is as often a greeting."""
    builder = DocumentBuilder()
    for paragraph in paragraphs(text):
        builder.add(paragraph)
    return builder.build(None, fallback_title)


def paragraphs(text: str) -> list[str]:
    """The paragraphs of a text, blank ones left out."""
    return [part for part in _PARAGRAPHS.split(text) if part.strip()]
