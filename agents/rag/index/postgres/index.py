"""The index of documents in an agent's schema of PostgreSQL: one for all replicas."""

from __future__ import annotations

import platform
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, TypeVar

from agents.rag.index.contract import nobody_listens
from agents.rag.index.postgres import read, write
from agents.rag.index.postgres.errors import retrieval_errors
from agents.rag.index.postgres.search import PostgresSearcher
from agents.rag.index.records import Stale, Stored
from agents.rag.index.sections import closest
from utils.errors import StorageError
from utils.persistence.postgres.names import lock_number
from utils.persistence.postgres.session_locks import SessionLocks

if TYPE_CHECKING:
    from agents.rag.index.ranking import Passage
    from agents.rag.index.sections import Text
    from agents.rag.index.vectors import Matrix, Vector
    from agents.rag.ingest.chunk import Chunk
    from agents.rag.ingest.document import Document
    from utils.persistence.postgres.pool import Connection, PostgresPool

Result = TypeVar("Result")

OVERTAKEN = "Another process ingests documents now, since this one could not reach the database for a while."

_BEGIN = "UPDATE rag_state SET ingestion = ingestion + 1, machine = %s RETURNING ingestion"
_SEEN = "document.state > 0"
_LATEST = """(document.state = 0 OR document.state = 1 AND NOT EXISTS
    (SELECT 1 FROM rag_documents AS newer WHERE newer.location = document.location AND newer.state = 0))"""
_DOCUMENTS = """
SELECT location, source, title, hash, recipe,
    (SELECT count(*) FROM rag_chunks WHERE document_id = document.id AND answered_by IS NULL)
FROM rag_documents AS document WHERE {which} ORDER BY source
"""
_WITHOUT = """
FROM rag_chunks AS chunk JOIN rag_documents AS document ON document.id = chunk.document_id
WHERE {which} AND chunk.id > %s
AND NOT EXISTS (SELECT 1 FROM rag_vectors WHERE chunk_id = chunk.id AND model = %s)
"""
_STALE = f"SELECT chunk.id, chunk.title, heading, body {_WITHOUT} ORDER BY chunk.id LIMIT %s"


class PostgresIndex:
    """The tables `rag_…` as a `DocumentIndex`. Readers see what an ingestion put when it publishes it."""

    def __init__(self, pool: PostgresPool) -> None:
        self._pool = pool
        self._searcher = PostgresSearcher(pool)
        self._ingestion: int | None = None

    async def open(self) -> None:
        """Do nothing: the tables were made before the agent starts."""

    @asynccontextmanager
    async def ingesting(self, on_wait: Callable[[str], None] = nobody_listens) -> AsyncIterator[None]:
        """Be the only one who ingests, in all processes. Waits for another one, and for a database that is away."""
        locks = SessionLocks(self._pool)

        async def waiting() -> None:
            row = await self._pool.one("SELECT machine FROM rag_state")
            on_wait(str(row[0]) if row else "")

        try:
            async with locks.held(lock_number(self._pool.schema, "rag-ingestion"), waiting):
                row = await self._pool.one(_BEGIN, (platform.node(),))
                self._ingestion = int(row[0]) if row else None
                try:
                    yield
                finally:
                    self._ingestion = None
        finally:
            await locks.close()

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

        async def work(db: Connection) -> str:
            return await write.put(
                db, location, source, document, chunks=chunks, digest=digest, recipe=recipe
            )

        return await self._write(work)

    async def put_vectors(self, model: str, ids: Sequence[int], vectors: Matrix) -> None:
        """Replace the vectors of some passages."""
        await self._write(lambda db: write.put_vectors(db, model, ids, vectors))

    async def publish(self, model: str = "") -> None:
        """Show readers what was put, and delete vectors of other models."""
        await self._write(lambda db: write.publish(db, model))

    async def remove(self, locations: Sequence[str]) -> int:
        """Remove documents."""
        return await self._write(lambda db: write.remove(db, locations)) if locations else 0

    async def settle(
        self, holds: Mapping[str, Collection[str]], gone: Sequence[str], *, configured: bool
    ) -> list[str]:
        """Write down what each source holds now, and let go of what none holds."""
        return await self._write(lambda db: write.settle(db, holds, gone, configured=configured))

    async def documents(self) -> list[Stored]:
        """Every document that readers see, by name."""
        return await self._documents(_SEEN)

    async def pending(self) -> list[Stored]:
        """Every document as an ingestion left it, by name."""
        return await self._documents(_LATEST)

    async def stale(self, model: str, after: int, limit: int) -> list[Stale]:
        """Passages without a vector of this model."""

        async def look(db: Connection) -> list[Stale]:
            query = _STALE.format(which=_LATEST).encode()
            rows = await (await db.execute(query, (after, model, limit))).fetchall()
            return [Stale(row[0], *[bytes(text).decode() for text in row[1:4]]) for row in rows]

        return await self._pool.run(look)

    async def count_stale(self, model: str, after: int = 0) -> int:
        """How many there are."""
        return await self._count(_LATEST, model, after)

    async def last_id(self) -> int:
        """The highest passage id so far."""
        row = await self._pool.one("SELECT coalesce(max(id), 0) FROM rag_chunks")
        return int(row[0]) if row else 0

    async def complete(self, model: str) -> bool:
        """Whether readers see documents whose passages all have vectors of this model."""
        if await self._pool.one("SELECT 1 FROM rag_documents WHERE state > 0 LIMIT 1") is None:
            return False
        return not model or not await self._count(_SEEN, model, 0)

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
        return await self._searcher.search(query, limit, model=model, vectors=vectors, words=words)

    async def mended(self, query: str) -> str:
        """The query with its typing errors mended."""
        return await self._searcher.mended(query)

    async def find_text(self, source: str) -> Text | None:
        """The document or section of that name."""
        with retrieval_errors("read"):
            return await read.find_text(self._pool, source)

    async def closest_sources(self, source: str, limit: int) -> list[tuple[str, str]]:
        """The names that resemble it."""
        with retrieval_errors("read"):
            found = await read.names(self._pool)
        return closest([(name, title) for _, name, title in found], source, limit)

    async def _write(self, work: Callable[[Connection], Awaitable[Result]]) -> Result:
        """Write in a transaction, after all others who write.

        Raises:
            StorageError: The database failed, or another process ingests meanwhile.
        """

        async def alone(db: Connection) -> Result:
            row = await (await db.execute("SELECT ingestion FROM rag_state FOR UPDATE")).fetchone()
            if self._ingestion is not None and row != (self._ingestion,):
                raise StorageError(OVERTAKEN)
            return await work(db)

        return await self._pool.run(alone)

    async def _documents(self, which: str) -> list[Stored]:
        async def look(db: Connection) -> list[Stored]:
            rows = await (await db.execute(_DOCUMENTS.format(which=which).encode())).fetchall()
            return [
                Stored(bytes(row[0]).decode(), row[1], bytes(row[2]).decode(), row[3], row[4], row[5])
                for row in rows
            ]

        return await self._pool.run(look)

    async def _count(self, which: str, model: str, after: int) -> int:
        row = await self._pool.one(f"SELECT count(*) {_WITHOUT.format(which=which)}", (after, model))
        return int(row[0]) if row else 0
