"""How close texts are in meaning: by embeddings and shared words, or by words alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from utils.embeddings import Embedder
from utils.embeddings.cache import unstored
from utils.llm.offline.words import content_stems

MEANING = 0.75
"""Weight of the embeddings against the words, where there is an embedder. Chosen with tests/eval (see `route`)."""
UNKNOWN = 1.0
"""Weight of a word that is not in the table of weights."""


@dataclass(frozen=True, slots=True)
class Similarity:
    """Compares texts. Without an embedder only their words count."""

    embedder: Embedder | None = None

    def to_each(
        self,
        text: str,
        candidates: Sequence[str],
        weights: Mapping[str, float] | None = None,
        *,
        passing: bool = False,
    ) -> list[float]:
        """Closeness of `text` to each candidate, about 0 (nothing in common) to 1 (the same).

        Args:
            text: What to compare.
            candidates: What to compare it with.
            weights: What a shared word is worth, by its stem; all the same when omitted.
            passing: Whether the candidates come from the conversation, so that their vectors must not stay in the file of
                known ones. Those of the text never do.
        """
        if not candidates:
            return []
        by_words = _by_words(text, candidates, weights or {})
        if self.embedder is None:
            return by_words
        said = unstored(self.embedder)
        if not passing:
            self.embedder.embed_sync(candidates)  # these stay in the file
        vectors = said.embed_sync([text, *candidates])
        by_meaning = vectors[1:] @ vectors[0]
        return [
            MEANING * float(meaning) + (1 - MEANING) * shared
            for meaning, shared in zip(by_meaning, by_words, strict=True)
        ]


def _by_words(text: str, candidates: Sequence[str], weights: Mapping[str, float]) -> list[float]:
    wanted = set(content_stems(text))
    return [_shared(wanted, set(content_stems(candidate)), weights) for candidate in candidates]


def _shared(left: set[str], right: set[str], weights: Mapping[str, float]) -> float:
    """Weight of the words in common against those of either side: Dice's coefficient."""
    both, total = (
        sum(weights.get(stem, UNKNOWN) for stem in stems) for stems in (left & right, (*left, *right))
    )
    return 2 * both / total if total else 0.0
