"""Bytes to a document, by media type: the one place that knows which formats there are."""

from __future__ import annotations

from pathlib import PurePosixPath

from agents.rag.ingest.decode import decode_text, looks_binary
from agents.rag.ingest.document import Document
from utils.errors import IngestFailed

_BY_SUFFIX = {
    ".md": "text/markdown",
    ".markdown": "text/markdown",
    ".mdx": "text/markdown",
    ".html": "text/html",
    ".htm": "text/html",
    ".xhtml": "text/html",
    ".pdf": "application/pdf",
    ".txt": "text/plain",
    ".text": "text/plain",
    ".rst": "text/plain",
    ".adoc": "text/plain",
    ".log": "text/plain",
    ".csv": "text/plain",
    ".json": "text/plain",
    ".yaml": "text/plain",
    ".yml": "text/plain",
    ".toml": "text/plain",
    "": "text/plain",
}
_FOLDER_SUFFIXES = frozenset(
    {".md", ".markdown", ".mdx", ".html", ".htm", ".xhtml", ".pdf", ".txt", ".text", ".rst"}
)
_HTML = frozenset({"text/html", "application/xhtml+xml"})


def media_type_of(name: str) -> str | None:
    """The media type that a file's name tells; `None` when it is not one that can be read."""
    return _BY_SUFFIX.get(PurePosixPath(name).suffix.lower())


def is_document_name(name: str) -> bool:
    """Whether a file met in a folder is taken for a document, judged by its ending."""
    return PurePosixPath(name).suffix.lower() in _FOLDER_SUFFIXES


def is_readable_type(media_type: str) -> bool:
    """Whether a page of this media type can be parsed."""
    return media_type in _HTML or media_type == "application/pdf" or media_type.startswith("text/")


def parse_document(data: bytes, media_type: str, title: str, charset: str | None = None) -> Document:
    """Parse a file or page.

    Args:
        data: Its bytes.
        media_type: As `media_type_of` or the server tells it.
        title: Used where the document has no title of its own.
        charset: The encoding that the server declared.

    Raises:
        IngestFailed: It cannot be read; the message completes "NAME …".
    """
    if media_type == "application/pdf" or data.startswith(b"%PDF-"):
        from agents.rag.ingest.pdf import parse_pdf

        return parse_pdf(data, title)
    if looks_binary(data):
        raise IngestFailed("is a binary file")
    return _parse_text(decode_text(data, charset), media_type, title)


def _parse_text(text: str, media_type: str, title: str) -> Document:
    if media_type in _HTML:
        from agents.rag.ingest.html import parse_html

        return parse_html(text, title)
    if media_type in ("text/markdown", "text/x-markdown"):
        from agents.rag.ingest.markdown import parse_markdown

        return parse_markdown(text, title)
    from agents.rag.ingest.text import parse_text

    return parse_text(text, title)
