"""What an index of documents does, wherever it is kept: in a file, or in PostgreSQL for all replicas."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from agents.rag.index.ranking import Passage
    from agents.rag.index.records import Stale, Stored
    from agents.rag.index.sections import Text
    from agents.rag.index.vectors import Matrix, Vector
    from agents.rag.ingest.chunk import Chunk
    from agents.rag.ingest.document import Document


def nobody_listens(_who: str) -> None:
    """Default callback of a wait: does nothing."""


class DocumentIndex(Protocol):
    """Documents with their passages and vectors. Safe for any number of readers; one ingestion writes at a time."""

    async def open(self) -> None:
        """Make it usable. Safe to call twice.

        Raises:
            StorageError: It cannot be created, is damaged or cannot be reached.
        """

    def ingesting(self, on_wait: Callable[[str], None] = nobody_listens) -> AbstractAsyncContextManager[None]:
        """Hold what an ingestion needs for itself within the block. An index whose documents are ingested by several at once needs nothing.

        Args:
            on_wait: Called with the name of the machine that ingests now, before it is waited for.

        Raises:
            StorageError: The index cannot be reached.
        """

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
        """Add a document or replace it, with its passages, all or nothing. Vectors come after.

        Args:
            location: Absolute path or URL; what identifies the document.
            source: The name to know it by in answers.
            document: Its title and text.
            chunks: Its passages.
            digest: Of its bytes.
            recipe: How it was cut.

        Returns:
            The name it is known by, which differs from `source` when another document has that.
        """

    async def put_vectors(self, model: str, ids: Sequence[int], vectors: Matrix) -> None:
        """Replace the vectors of some passages; passages that are gone meanwhile are left out."""

    async def publish(self, model: str = "") -> None:
        """Show readers what was put, where they do not see it yet.

        Args:
            model: The embedding model of this process; empty without one.
        """

    async def remove(self, locations: Sequence[str]) -> int:
        """Remove documents for readers too. Returns how many there were."""

    async def settle(
        self, holds: Mapping[str, Collection[str]], gone: Sequence[str], *, configured: bool
    ) -> list[str]:
        """Write down what each source holds now, and remove what is gone or held by none any more.

        Args:
            holds: Locations of the documents of each source.
            gone: Locations of documents that are to be removed whatever holds them.
            configured: These are all sources that the settings name.

        Returns:
            The names of the documents that were removed.
        """

    async def documents(self) -> list[Stored]:
        """Every document that readers see, by name."""

    async def pending(self) -> list[Stored]:
        """Every document as an ingestion left it, by name: those that readers do not see yet included."""

    async def stale(self, model: str, after: int, limit: int) -> list[Stale]:
        """Passages without a vector of this model, by id, from the first id past `after`."""

    async def count_stale(self, model: str, after: int = 0) -> int:
        """How many passages past an id have no vector of this model."""

    async def last_id(self) -> int:
        """The highest passage id so far; 0 for an empty index."""

    async def complete(self, model: str) -> bool:
        """Whether readers see documents whose passages all have vectors of this model, while others are ingested."""

    async def search(
        self,
        query: str,
        limit: int,
        *,
        model: str = "",
        vectors: Sequence[Vector] = (),
        words: bool = True,
    ) -> list[Passage]:
        """The best passages for a query, best first.

        Args:
            query: The question or keywords.
            limit: How many at most.
            model: Name of the embedding model.
            vectors: Vectors of that model, of length 1, of the query and of its sentences; the nearest counts.
                Words only without.
            words: Whether words count; `False` compares vectors alone.

        Raises:
            RetrievalFailed: The index is missing, damaged or cannot be reached.
        """

    async def mended(self, query: str) -> str:
        """The query with each word that no passage has, and that is one typing error from a word of them, read as that word.

        Raises:
            RetrievalFailed: The index is missing, damaged or cannot be reached.
        """

    async def find_text(self, source: str) -> Text | None:
        """The document or section that `source` names: `docs/a.md`, `docs/a.md#anchor`, `a.md` or a title.

        A section comes with those below it; an unknown anchor gives the whole document.

        Raises:
            RetrievalFailed: The index is missing, damaged or cannot be reached.
        """

    async def closest_sources(self, source: str, limit: int) -> list[tuple[str, str]]:
        """Names and titles of the documents whose name or title resembles `source` most, best first.

        Raises:
            RetrievalFailed: The index is missing, damaged or cannot be reached.
        """
