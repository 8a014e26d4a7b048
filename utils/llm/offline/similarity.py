"""How close texts are in meaning: by embeddings and shared words, or by words alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from utils.embeddings import Embedder
from utils.llm.offline.words import content_stems, overlap

MEANING = 0.75
"""Weight of the embeddings against the words, where there is an embedder. Chosen on the `tune` split of tests/eval."""


@dataclass(frozen=True, slots=True)
class Similarity:
    """Compares texts. Without an embedder only their words count."""

    embedder: Embedder | None = None

    def to_each(self, text: str, candidates: Sequence[str]) -> list[float]:
        """Closeness of `text` to each candidate, about 0 (nothing in common) to 1 (the same)."""
        if not candidates:
            return []
        by_words = self._by_words(text, candidates)
        if self.embedder is None:
            return by_words
        vectors = self.embedder.embed_sync([text, *candidates])
        by_meaning = vectors[1:] @ vectors[0]
        return [
            MEANING * float(meaning) + (1 - MEANING) * shared
            for meaning, shared in zip(by_meaning, by_words, strict=True)
        ]

    def _by_words(self, text: str, candidates: Sequence[str]) -> list[float]:
        wanted = content_stems(text)
        present = [content_stems(candidate) for candidate in candidates]
        return [(overlap(wanted, stems) + overlap(stems, wanted)) / 2 for stems in present]
