"""Hybrid search in the shared index: full text and vectors, fused. All of one search sees one state of it."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from agents.rag.index.postgres.errors import retrieval_errors
from agents.rag.index.postgres.vectors import Comparer, comparer_for
from agents.rag.index.postgres.words import search_words
from agents.rag.index.ranking import (
    CANDIDATES,
    Passage,
    Question,
    Ranking,
    Row,
    answering,
    choose,
    nearest,
    rank,
)
from agents.rag.index.vocabulary import Vocabulary, vocabulary_of
from utils.messages.typing_errors import plain_words

if TYPE_CHECKING:
    from agents.rag.index.vectors import Vector
    from utils.persistence.postgres.pool import Connection, PostgresPool

ONE_STATE = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"

_QUESTIONS = "SELECT id, answered_by, body FROM rag_chunks WHERE id = ANY(%s) AND answered_by IS NOT NULL"
_STRANGE = """
SELECT word FROM unnest(%s::text[]) AS word WHERE NOT EXISTS (
    SELECT FROM rag_chunks AS chunk JOIN rag_documents AS document ON document.id = chunk.document_id
    WHERE document.state > 0 AND chunk.words @@ plainto_tsquery('pg_catalog.english', word)
)
"""
"""Words that no passage has in any form. Stop words are among them, since the server keeps none."""

_TEXTS = """
SELECT chunk.heading, chunk.body
FROM rag_chunks AS chunk JOIN rag_documents AS document ON document.id = chunk.document_id WHERE document.state > 0
"""
_ROWS = """
SELECT chunk.id, document.source, chunk.title, chunk.heading, chunk.anchor, chunk.body
FROM rag_chunks AS chunk JOIN rag_documents AS document ON document.id = chunk.document_id
WHERE chunk.id = ANY(%s) AND document.state > 0
"""


class PostgresSearcher:
    """Searches the tables of one agent."""

    def __init__(self, pool: PostgresPool) -> None:
        self._pool = pool
        self._comparer: Comparer | None = None
        self._vocabulary = Vocabulary()

    async def search(
        self, query: str, limit: int, *, model: str, vectors: Sequence[Vector], words: bool
    ) -> list[Passage]:
        """The best passages for a query, best first; `DocumentIndex.search` says more.

        Raises:
            RetrievalFailed: The database cannot be reached, or failed.
        """

        async def look(db: Connection) -> tuple[Ranking, list[Row]]:
            await db.execute(ONE_STATE)
            ranking = await self._rank(db, query if words else "", model, vectors)
            return ranking, await _rows(db, ranking.ids)

        with retrieval_errors("searched"):
            ranking, rows = await self._pool.run(look)
        return choose(rows, ranking, query, limit)

    async def mended(self, query: str) -> str:
        """The query with its typing errors mended; `DocumentIndex.mended` says more.

        Raises:
            RetrievalFailed: The database cannot be reached, or failed.
        """
        if not (asked := plain_words(query)):
            return query

        async def look(db: Connection) -> tuple[list[str], Vocabulary]:
            await db.execute(ONE_STATE)
            strange = [row[0] for row in await (await db.execute(_STRANGE, (asked,))).fetchall()]
            return strange, await self._words_of(db) if strange else self._vocabulary

        with retrieval_errors("searched"):
            strange, self._vocabulary = await self._pool.run(look)
        return self._vocabulary.read(query, strange)

    async def _words_of(self, db: Connection) -> Vocabulary:
        """The words of the passages, read again when the index has changed."""
        row = await (await db.execute("SELECT generation FROM rag_state")).fetchone()
        generation = int(row[0]) if row else 0
        if self._vocabulary.generation == generation:
            return self._vocabulary
        rows = await (await db.execute(_TEXTS)).fetchall()
        texts = (bytes(text).decode() for row in rows for text in row)
        return await asyncio.to_thread(vocabulary_of, generation, texts)

    async def _rank(self, db: Connection, query: str, model: str, vectors: Sequence[Vector]) -> Ranking:
        words = await search_words(db, query, CANDIDATES)
        if vectors and self._comparer is None:
            self._comparer = await comparer_for(db)
        every = [await self._comparer.compare(db, model, each) for each in vectors] if self._comparer else []
        cosines = nearest([await each.best() | await each.of(words) for each in every])
        questions = await _questions(db, words.keys() | cosines.keys())
        behind = answering(questions, cosines)
        return rank(words, nearest([cosines, *[await each.of(behind) for each in every]]), questions)


async def _questions(db: Connection, ids: Collection[int]) -> dict[int, Question]:
    rows = await (await db.execute(_QUESTIONS, (list(ids),))).fetchall()
    return {row[0]: Question(row[1], bytes(row[2]).decode()) for row in rows}


async def _rows(db: Connection, ids: Sequence[int]) -> list[Row]:
    rows = await (await db.execute(_ROWS, (list(ids),))).fetchall()
    return [(row[0], row[1], *[bytes(text).decode() for text in row[2:6]]) for row in rows]
