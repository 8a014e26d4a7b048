"""Hybrid search: BM25 and vectors, fused. Blocks: call it in a thread."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Mapping, Sequence
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

_CANDIDATES = 300
"""Passages and questions that words and vectors each contribute."""
_NEAR = 0.25
"""Cosine from which a passage is about the query. Of the embedded model: questions outside a corpus stay
under 0.3 for their nearest passage, answers to questions inside it are above 0.38 (Python's FAQ)."""
_COVERED = 0.5
"""Share of the query's words from which a passage counts although it is not near."""
_OF_QUESTION = 0.6
"""How much of what its nearest question is closer than a passage itself counts for the passage. Its own text must count too: with
`python -m tests.eval.retrieval` for text alone, and each known question left out once, less finds the section more often than 1."""
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
        similarity: Cosine of the query to the passage or to the nearest of its questions; `None` without a vector.
        asked: The nearest of its questions; empty where the passage itself is nearer.
    """

    chunk_id: int
    source: str
    title: str
    heading: tuple[str, ...]
    anchor: str
    text: str
    score: float
    similarity: float | None
    asked: str = ""


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
            RetrievalFailed: The index is missing or damaged.
        """
        try:
            with schema.connect(self._path) as connection:
                connection.execute("BEGIN")
                found = self._scores(connection, query if words else "", model, vectors)
                passages = _passages(connection, *found)
        except sqlite3.Error as error:
            raise RetrievalFailed("The document index could not be searched.") from error
        return _spread([passage for passage in passages if _relevant(passage, query)], limit)

    def _scores(
        self, connection: sqlite3.Connection, query: str, model: str, vectors: Sequence[Vector]
    ) -> tuple[list[tuple[int, float]], dict[int, float], dict[int, str]]:
        words = dict(search_words(connection, query, _CANDIDATES))
        cosines: dict[int, float] = {}
        for vector in vectors:
            every = self._vectors.cosines(connection, model, vector)
            for id_, cosine in (every.best(_CANDIDATES) | every.of(words)).items():
                cosines[id_] = max(cosine, cosines.get(id_, -1.0))
        questions = _questions(connection, words.keys() | cosines.keys())
        asked = _nearest_questions(questions, cosines or words)
        behind = {question.answered_by for question in questions.values()} - cosines.keys()
        for vector in vectors if behind else ():
            for id_, cosine in self._vectors.cosines(connection, model, vector).of(behind).items():
                cosines[id_] = max(cosine, cosines.get(id_, -1.0))
        ranked = fuse(_answered(words, questions, _OF_QUESTION), _answered(cosines, questions, _OF_QUESTION))
        return ranked, _answered(cosines, questions), asked


@dataclass(frozen=True, slots=True)
class _Question:
    answered_by: int
    text: str


def _questions(connection: sqlite3.Connection, ids: Collection[int]) -> dict[int, _Question]:
    marks = ",".join("?" * len(ids))
    rows = connection.execute(
        "SELECT chunk_id, answered_by, body FROM questions JOIN chunks ON chunks.id = chunk_id"  # noqa: S608 - marks only
        f" WHERE chunk_id IN ({marks})",
        list(ids),
    )
    return {row[0]: _Question(row[1], row[2]) for row in rows}


def _answered(
    scores: Mapping[int, float], questions: Mapping[int, _Question], share: float = 1.0
) -> dict[int, float]:
    """The score of each passage: its own, raised by a share of what the best of its questions has more."""
    found = {id_: score for id_, score in scores.items() if id_ not in questions}
    best: dict[int, float] = {}
    for id_ in scores.keys() & questions.keys():
        passage = questions[id_].answered_by
        best[passage] = max(scores[id_], best.get(passage, scores[id_]))
    for passage, score in best.items():
        own = found.get(passage, 0.0)
        found[passage] = own + share * max(0.0, score - own)
    return found


def _nearest_questions(questions: Mapping[int, _Question], scores: Mapping[int, float]) -> dict[int, str]:
    """The best question of each passage, where it is better than the passage itself."""
    best: dict[int, tuple[float, str]] = {}
    for id_, question in questions.items():
        score, passage = scores.get(id_, -1.0), question.answered_by
        if score > max(best.get(passage, (-1.0, ""))[0], scores.get(passage, -1.0)):
            best[passage] = (score, question.text)
    return {passage: text for passage, (_, text) in best.items()}


def _relevant(passage: Passage, query: str) -> bool:
    if passage.similarity is None or passage.similarity >= _NEAR:
        return True
    return (
        coverage(query, f"{passage.title} {' '.join(passage.heading)} {passage.text} {passage.asked}")
        >= _COVERED
    )


def _passages(
    connection: sqlite3.Connection,
    ranked: Sequence[tuple[int, float]],
    similarities: Mapping[int, float],
    asked: Mapping[int, str],
) -> list[Passage]:
    marks = ",".join("?" * len(ranked))
    rows = connection.execute(
        "SELECT chunks.id, source, chunks.title, heading, anchor, body FROM chunks"  # noqa: S608 - marks only
        f" JOIN documents ON documents.id = document_id WHERE chunks.id IN ({marks})",
        [id_ for id_, _ in ranked],
    )
    by_id = {int(row["id"]): row for row in rows}
    return [
        _passage(by_id[id_], score, similarities.get(id_), asked.get(id_, ""))
        for id_, score in ranked
        if id_ in by_id
    ]


def _passage(row: sqlite3.Row, score: float, similarity: float | None, asked: str) -> Passage:
    heading = tuple(part for part in row["heading"].split("\n") if part)
    return Passage(
        row["id"], row["source"], row["title"], heading, row["anchor"], row["body"], score, similarity, asked
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
