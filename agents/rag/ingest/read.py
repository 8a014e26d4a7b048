"""One candidate to its bytes and, when they are new, to a document and its chunks."""

from __future__ import annotations

import asyncio
import hashlib
from dataclasses import dataclass

from agents.rag.ingest.chunk import Chunk, chunk_document
from agents.rag.ingest.document import Document
from agents.rag.ingest.fetch import Page, fetch_page
from agents.rag.ingest.load import media_type_of, parse_document
from agents.rag.ingest.names import title_of
from agents.rag.ingest.plan import Candidate
from agents.rag.settings import RagSettings
from utils.errors import IngestFailed


@dataclass(frozen=True, slots=True)
class Raw:
    """A document as read, with the digest of its bytes."""

    page: Page
    digest: str


@dataclass(frozen=True, slots=True)
class Cut:
    """A parsed document and its passages; none when it has no text."""

    document: Document
    chunks: tuple[Chunk, ...]


async def read_candidate(candidate: Candidate, settings: RagSettings) -> Raw:
    """Read a file or fetch a page.

    Raises:
        IngestFailed: It cannot be read; the message completes "NAME …".
    """
    if candidate.path is None:
        page = await fetch_page(candidate.location, settings)
    else:
        page = await asyncio.to_thread(_read_file, candidate, settings.max_file_bytes)
    return Raw(page, hashlib.sha256(page.data).hexdigest())


def cut(raw: Raw, name: str, settings: RagSettings) -> Cut:
    """Parse and chunk. Uses the processor: call it in a thread.

    Raises:
        IngestFailed: It cannot be parsed or is too long; the message completes "NAME …".
    """
    page = raw.page
    document = parse_document(page.data, page.media_type, title_of(name), page.charset)
    chunks = tuple(chunk_document(document, settings.chunk_tokens))
    if len(chunks) > settings.max_passages:
        raise IngestFailed(f"has {len(chunks):,} passages, more than the {settings.max_passages:,} allowed")
    return Cut(document, chunks)


def _read_file(candidate: Candidate, limit: int) -> Page:
    path = candidate.path
    if path is None:
        raise IngestFailed("is not a file")
    try:
        if path.stat().st_size > limit:
            raise IngestFailed(f"is larger than {limit:,} bytes")
        data = path.read_bytes()
    except OSError as error:
        raise IngestFailed("cannot be read") from error
    return Page(data, media_type_of(path.name) or "text/plain", None)
