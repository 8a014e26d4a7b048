"""Hybrid search: BM25 and vectors, fused. Blocks: call it in a thread."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from agents.rag.index import schema
from agents.rag.index.fuse import fuse
from agents.rag.index.lexical import coverage, search_words
from agents.rag.index.vectors import VectorCache
from utils.errors import RetrievalFailed

if TYPE_CHECKING:
    from agents.rag.index.vectors import Vector

_CANDIDATES = 100
"""Passages that words and vectors each contribute."""
_NEAR = 0.25
"""Cosine from which a passage is about the query. Of the embedded model: questions outside a corpus stay
under 0.3 for their nearest passage, answers to questions inside it are above 0.38 (Python's FAQ)."""
_COVERED = 0.5
"""Share of the query's words from which a passage counts although it is not near."""
_PER_SECTION = 2
"""Passages of one section in a result, so that one long section does not fill it."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A search result.

    Attributes:
        chunk_id: Identity in the index.
        source: Name of the document.
        title: Title of the document.
        heading: Headings above the passage, from the top, the title left out.
        anchor: Fragment that leads to the section; may be empty.
        text: The passage.
        score: At most 1, falling with the rank; 1 for what words and vectors both put first.
        similarity: Cosine to the query; `None` without a vector.
    """

    chunk_id: int
    source: str
    title: str
    heading: tuple[str, ...]
    anchor: str
    text: str
    score: float
    similarity: float | None


class Searcher:
    """Searches one index file; sees what other processes have written."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._vectors = VectorCache()

    def search(
        self,
        query: str,
        limit: int,
        *,
        model: str = "",
        vector: Vector | None = None,
        words: bool = True,
    ) -> list[Passage]:
        """The best passages for a query, best first.

        Args:
            query: The question or keywords.
            limit: How many at most.
            model: Name of the embedding model.
            vector: The query's vector of that model, of length 1; words only without.
            words: Whether words count; `False` compares vectors alone.

        Raises:
            RetrievalFailed: The index is missing or damaged.
        """
        try:
            with schema.connect(self._path) as connection:
                connection.execute("BEGIN")
                found = self._scores(connection, query if words else "", model, vector)
                passages = _passages(connection, *found)
        except sqlite3.Error as error:
            raise RetrievalFailed("The document index could not be searched.") from error
        return _spread([passage for passage in passages if _relevant(passage, query)], limit)

    def _scores(
        self, connection: sqlite3.Connection, query: str, model: str, vector: Vector | None
    ) -> tuple[list[tuple[int, float]], dict[int, float]]:
        words = dict(search_words(connection, query, _CANDIDATES))
        cosines: dict[int, float] = {}
        if vector is not None:
            every = self._vectors.cosines(connection, model, vector)
            cosines = every.best(_CANDIDATES) | every.of(words)
        return fuse(words, cosines), cosines


def _relevant(passage: Passage, query: str) -> bool:
    if passage.similarity is None or passage.similarity >= _NEAR:
        return True
    return coverage(query, f"{passage.title} {' '.join(passage.heading)} {passage.text}") >= _COVERED


def _passages(
    connection: sqlite3.Connection, ranked: Sequence[tuple[int, float]], similarities: dict[int, float]
) -> list[Passage]:
    marks = ",".join("?" * len(ranked))
    rows = connection.execute(
        "SELECT chunks.id, source, chunks.title, heading, anchor, body FROM chunks"  # noqa: S608 - marks only
        f" JOIN documents ON documents.id = document_id WHERE chunks.id IN ({marks})",
        [id_ for id_, _ in ranked],
    )
    by_id = {int(row["id"]): row for row in rows}
    return [_passage(by_id[id_], score, similarities.get(id_)) for id_, score in ranked if id_ in by_id]


def _passage(row: sqlite3.Row, score: float, similarity: float | None) -> Passage:
    heading = tuple(part for part in row["heading"].split("\n") if part)
    return Passage(
        row["id"], row["source"], row["title"], heading, row["anchor"], row["body"], score, similarity
    )


def _spread(passages: Sequence[Passage], limit: int) -> list[Passage]:
    taken: dict[tuple[str, tuple[str, ...], str], int] = {}
    chosen: list[Passage] = []
    for passage in passages:
        section = (passage.source, passage.heading, passage.anchor)
        if len(chosen) < limit and taken.get(section, 0) < _PER_SECTION:
            taken[section] = taken.get(section, 0) + 1
            chosen.append(passage)
    return chosen
