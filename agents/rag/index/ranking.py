"""From what words and vectors say of passages and their questions to the passages of a result. Reads no index."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from agents.rag.index.fuse import fuse
from agents.rag.index.lexical import coverage

CANDIDATES = 300
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


@dataclass(frozen=True, slots=True)
class Question:
    """A passage that is a question, and the passage that answers it."""

    answered_by: int
    text: str


@dataclass(frozen=True, slots=True)
class Ranking:
    """Passages by score, and why they are among them.

    Attributes:
        order: Ids with their scores, best first.
        similarities: Cosine of the query to each passage or to the nearest of its questions.
        asked: The nearest question of a passage that is farther itself.
    """

    order: Sequence[tuple[int, float]]
    similarities: Mapping[int, float]
    asked: Mapping[int, str]

    @property
    def ids(self) -> list[int]:
        """The passages."""
        return [id_ for id_, _ in self.order]


Row = tuple[int, str, str, str, str, str]
"""A passage as it is stored: id, name and title of its document, headings one a line, anchor, text."""


def nearest(every: Iterable[Mapping[int, float]]) -> dict[int, float]:
    """The largest cosine of each passage."""
    found: dict[int, float] = {}
    for cosines in every:
        for id_, cosine in cosines.items():
            found[id_] = max(cosine, found.get(id_, -1.0))
    return found


def answering(questions: Mapping[int, Question], cosines: Mapping[int, float]) -> set[int]:
    """The passages that questions were found for, whose own cosines are still missing."""
    return {question.answered_by for question in questions.values()} - cosines.keys()


def rank(
    words: Mapping[int, float], cosines: Mapping[int, float], questions: Mapping[int, Question]
) -> Ranking:
    """Join what words and vectors say of passages and questions."""
    fused = fuse(_answered(words, questions, _OF_QUESTION), _answered(cosines, questions, _OF_QUESTION))
    return Ranking(fused, _answered(cosines, questions), _nearest_questions(questions, cosines or words))


def choose(rows: Iterable[Row], ranking: Ranking, query: str, limit: int) -> list[Passage]:
    """The result: relevant passages in order, few of one section. Passages without a row are left out."""
    by_id = {row[0]: row for row in rows}
    passages = [
        _passage(by_id[id_], score, ranking.similarities.get(id_), ranking.asked.get(id_, ""))
        for id_, score in ranking.order
        if id_ in by_id
    ]
    return _spread([passage for passage in passages if _relevant(passage, query)], limit)


def _passage(row: Row, score: float, similarity: float | None, asked: str) -> Passage:
    id_, source, title, heading, anchor, text = row
    path = tuple(part for part in heading.split("\n") if part)
    return Passage(id_, source, title, path, anchor, text, score, similarity, asked)


def _answered(
    scores: Mapping[int, float], questions: Mapping[int, Question], share: float = 1.0
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


def _nearest_questions(questions: Mapping[int, Question], scores: Mapping[int, float]) -> dict[int, str]:
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


def _spread(passages: Sequence[Passage], limit: int) -> list[Passage]:
    taken: dict[tuple[str, tuple[str, ...], str], int] = {}
    chosen: list[Passage] = []
    for passage in passages:
        section = (passage.source, passage.heading, passage.anchor)
        if len(chosen) < limit and taken.get(section, 0) < _PER_SECTION:
            taken[section] = taken.get(section, 0) + 1
            chosen.append(passage)
    return chosen
