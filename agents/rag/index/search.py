"""Hybrid search in an index file: BM25 and vectors, fused. Blocks: call it in a thread."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from agents.rag.index import schema
from agents.rag.index.failures import retrieval_errors
from agents.rag.index.lexical import search_words
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
from agents.rag.index.vectors import VectorCache
from agents.rag.index.vocabulary import Vocabulary, vocabulary_of
from utils.messages.typing_errors import plain_words

if TYPE_CHECKING:
    from agents.rag.index.vectors import Vector


class Searcher:
    """Searches one index file; sees what other processes have written."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._vectors = VectorCache()
        self._vocabulary = Vocabulary()

    def search(
        self,
        query: str,
        limit: int,
        *,
        model: str = "",
        vectors: Sequence[Vector] = (),
        words: bool = True,
    ) -> list[Passage]:
        """The best passages for a query, best first; `DocumentIndex.search` says more.

        Raises:
            RetrievalFailed: The index is missing or damaged.
        """
        with retrieval_errors(self._path, "searched"), schema.connect(self._path) as connection:
            connection.execute("BEGIN")
            ranking = self._rank(connection, query if words else "", model, vectors)
            rows = _rows(connection, ranking.ids)
        return choose(rows, ranking, query, limit)

    def mended(self, query: str) -> str:
        """The query with its typing errors mended; `DocumentIndex.mended` says more.

        Raises:
            RetrievalFailed: The index is missing or damaged.
        """
        with retrieval_errors(self._path, "searched"), schema.connect(self._path) as connection:
            strange = [word for word in plain_words(query) if not _has(connection, word)]
            return self._words_of(connection).read(query, strange) if strange else query

    def _words_of(self, connection: sqlite3.Connection) -> Vocabulary:
        """The words of the passages, read again when the index has changed."""
        generation = int(connection.execute("SELECT generation FROM state").fetchone()[0])
        if self._vocabulary.generation != generation:
            rows = connection.execute("SELECT heading || ' ' || body FROM chunks")
            self._vocabulary = vocabulary_of(generation, (row[0] for row in rows))
        return self._vocabulary

    def _rank(
        self, connection: sqlite3.Connection, query: str, model: str, vectors: Sequence[Vector]
    ) -> Ranking:
        words = dict(search_words(connection, query, CANDIDATES))
        every = [self._vectors.cosines(connection, model, vector) for vector in vectors]
        cosines = nearest(each.best(CANDIDATES) | each.of(words) for each in every)
        questions = _questions(connection, words.keys() | cosines.keys())
        behind = answering(questions, cosines)
        return rank(words, nearest([cosines, *(each.of(behind) for each in every)]), questions)


def _has(connection: sqlite3.Connection, word: str) -> bool:
    """Whether any passage has a word, in any of its forms."""
    return (
        connection.execute("SELECT 1 FROM words WHERE words MATCH ? LIMIT 1", (f'"{word}"',)).fetchone()
        is not None
    )


def _questions(connection: sqlite3.Connection, ids: Collection[int]) -> dict[int, Question]:
    marks = ",".join("?" * len(ids))
    rows = connection.execute(
        "SELECT chunk_id, answered_by, body FROM questions JOIN chunks ON chunks.id = chunk_id"  # noqa: S608 - marks only
        f" WHERE chunk_id IN ({marks})",
        list(ids),
    )
    return {row[0]: Question(row[1], row[2]) for row in rows}


def _rows(connection: sqlite3.Connection, ids: Sequence[int]) -> list[Row]:
    marks = ",".join("?" * len(ids))
    rows = connection.execute(
        "SELECT chunks.id, source, chunks.title, heading, anchor, body FROM chunks"  # noqa: S608 - marks only
        f" JOIN documents ON documents.id = document_id WHERE chunks.id IN ({marks})",
        list(ids),
    )
    return [(row[0], row[1], row[2], row[3], row[4], row[5]) for row in rows]
