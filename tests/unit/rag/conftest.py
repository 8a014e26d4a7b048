"""An index in a folder of its own, and an embedder that is exact and quick."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from agents.rag.index.embedded import EmbeddedIndex
from agents.rag.index.store import Store
from agents.rag.ingest.ingester import Ingester
from agents.rag.settings import RagSettings


class WordEmbedder:
    """Vectors of hashed words: a real embedder for tests that are not about meaning. Counts its work."""

    dimensions = 64

    def __init__(self, name: str = "words-64") -> None:
        self.name = name
        self.embedded: list[str] = []

    def embed_sync(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.embedded += texts
        rows = np.full((len(texts), self.dimensions), 1e-3, dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in re.findall(r"\w+", text.lower()):
                row[sum(word.encode()) % self.dimensions] += 1
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        return rows

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return await asyncio.to_thread(self.embed_sync, texts)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "home" / "index.sqlite")


@pytest.fixture
def embedder() -> WordEmbedder:
    return WordEmbedder()


@pytest.fixture
def ingester(store: Store, embedder: WordEmbedder) -> Ingester:
    return Ingester(EmbeddedIndex(store.path), RagSettings(), embedder)


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "alpha.md").write_text("# Alpha\n\n## Apples\n\nApples are red.\n")
    (folder / "beta.md").write_text("# Beta\n\nBananas are yellow.\n")
    return folder
