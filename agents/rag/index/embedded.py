"""The index in a file of the agent's folder: each call runs in a thread."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from agents.rag.index.contract import nobody_listens
from agents.rag.index.read import closest_sources, find_text
from agents.rag.index.search import Searcher
from agents.rag.index.store import Store

if TYPE_CHECKING:
    from agents.rag.index.ranking import Passage
    from agents.rag.index.records import Stale, Stored
    from agents.rag.index.sections import Text
    from agents.rag.index.vectors import Matrix, Vector
    from agents.rag.ingest.chunk import Chunk
    from agents.rag.ingest.document import Document


class EmbeddedIndex:
    """One index file as a `DocumentIndex`. Each document is seen as soon as it is put; several processes may ingest at once."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._store = Store(path, create=False)
        self._searcher = Searcher(path)

    async def open(self) -> None:
        """Create the file where there is none."""
        await asyncio.to_thread(self._store.create)

    def ingesting(self, on_wait: Callable[[str], None] = nobody_listens) -> AbstractAsyncContextManager[None]:  # noqa: ARG002 - as in the contract
        """Hold nothing: a document is one transaction."""
        return nullcontext()

    async def put(
        self,
        location: str,
        source: str,
        document: Document,
        *,
        chunks: Sequence[Chunk],
        digest: str,
        recipe: str,
    ) -> str:
        """Add a document or replace it."""
        return await asyncio.to_thread(
            self._store.put, location, source, document, chunks=chunks, digest=digest, recipe=recipe
        )

    async def put_vectors(self, model: str, ids: Sequence[int], vectors: Matrix) -> None:
        """Replace the vectors of some passages."""
        await asyncio.to_thread(self._store.put_vectors, model, ids, vectors)

    async def publish(self, model: str = "") -> None:
        """Do nothing: readers see what was put."""

    async def remove(self, locations: Sequence[str]) -> int:
        """Remove documents."""
        return await asyncio.to_thread(self._store.remove, locations)

    async def settle(
        self, holds: Mapping[str, Collection[str]], gone: Sequence[str], *, configured: bool
    ) -> list[str]:
        """Write down what each source holds now, and remove what none holds."""
        return await asyncio.to_thread(self._store.settle, holds, gone, configured=configured)

    async def documents(self) -> list[Stored]:
        """Every document, by name."""
        return await asyncio.to_thread(self._store.documents)

    async def pending(self) -> list[Stored]:
        """The same: readers see every document."""
        return await self.documents()

    async def stale(self, model: str, after: int, limit: int) -> list[Stale]:
        """Passages without a vector of this model."""
        return await asyncio.to_thread(self._store.stale, model, after, limit)

    async def count_stale(self, model: str, after: int = 0) -> int:
        """How many there are."""
        return await asyncio.to_thread(self._store.count_stale, model, after)

    async def last_id(self) -> int:
        """The highest passage id so far."""
        return await asyncio.to_thread(self._store.last_id)

    async def complete(self, model: str) -> bool:  # noqa: ARG002 - as in the contract
        """Never: what is ingested is seen at once, before it is whole."""
        return False

    async def search(
        self,
        query: str,
        limit: int,
        *,
        model: str = "",
        vectors: Sequence[Vector] = (),
        words: bool = True,
    ) -> list[Passage]:
        """The best passages for a query."""
        return await asyncio.to_thread(
            self._searcher.search, query, limit, model=model, vectors=vectors, words=words
        )

    async def mended(self, query: str) -> str:
        """The query with its typing errors mended."""
        return await asyncio.to_thread(self._searcher.mended, query)

    async def find_text(self, source: str) -> Text | None:
        """The document or section of that name."""
        return await asyncio.to_thread(find_text, self.path, source)

    async def closest_sources(self, source: str, limit: int) -> list[tuple[str, str]]:
        """The names that resemble it."""
        return await asyncio.to_thread(closest_sources, self.path, source, limit)
