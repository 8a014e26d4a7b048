"""The vectors that come with the repository: complete, right, and used for nothing but their own text."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents.rag import ship_vectors
from agents.rag.index.embedded import EmbeddedIndex
from agents.rag.index.store import Store
from agents.rag.ingest.embedding import use_shipped
from agents.rag.ingest.ingester import Ingester
from agents.rag.ingest.shipped import Shipped, encode, encode_all, key_of, read_shipped, write_shipped
from agents.rag.settings import RagSettings
from agents.rag.startup import StartupIngestion
from utils.embeddings.minilm import MiniLmEmbedder

ROOT = Path(__file__).resolve().parents[3]
DOCUMENT = ROOT / "docs" / "requirements.md"


class Counting(MiniLmEmbedder):
    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    async def embed(self, texts: Sequence[str]) -> Any:
        self.texts += texts
        return await super().embed(texts)


async def ingested(folder: Path, document: Path, embedder: MiniLmEmbedder) -> Store:
    store = Store(folder / "index.sqlite")
    ingestion = StartupIngestion(EmbeddedIndex(store.path), RagSettings.load({}), embedder, [str(document)])
    ingestion.start()
    await ingestion.wait()
    assert not ingestion.words_only
    assert store.count_stale(embedder.name) == 0
    return store


def test_every_passage_of_the_documents_has_its_vector_and_there_is_no_other(capsys):
    assert ship_vectors.main(["--check"]) == 0, capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.long
async def test_a_shipped_vector_is_the_models_own_to_within_its_rounding():
    texts = (await ship_vectors.passages())[::60]
    shipped = read_shipped().vectors(texts)
    made = MiniLmEmbedder().embed_sync(texts)
    for mine, its in zip(shipped, made, strict=True):
        assert mine is not None
        assert mine.dtype == np.float32
        assert np.linalg.norm(mine) == pytest.approx(1, abs=1e-5)
        assert mine @ its > 0.999


async def test_a_document_of_the_repository_is_searched_by_vectors_without_a_run_of_the_model(tmp_path):
    embedder = Counting()
    await ingested(tmp_path, DOCUMENT, embedder)
    assert embedder.texts == []


async def test_only_the_passages_that_changed_are_embedded(tmp_path):
    changed = tmp_path / DOCUMENT.name
    changed.write_text(DOCUMENT.read_text() + "\n## Afterwards\n\nThis section is new here.\n")
    embedder = Counting()
    await ingested(tmp_path, changed, embedder)
    assert len(embedder.texts) == 1
    assert "This section is new here." in embedder.texts[0]


async def test_vectors_of_another_model_are_not_used(tmp_path):
    store = Store(tmp_path / "index.sqlite")
    await Ingester(EmbeddedIndex(store.path), RagSettings.load({}), None).ingest([str(DOCUMENT)])
    shipped = Shipped("another", 384, read_shipped().encoded)
    assert await use_shipped(EmbeddedIndex(store.path), MiniLmEmbedder.name, shipped) == 0
    assert store.count_stale(MiniLmEmbedder.name) > 0


def test_what_is_written_is_read_and_a_damaged_line_costs_its_vector_only(tmp_path):
    vectors = np.eye(3, 384, dtype=np.float32)
    file = tmp_path / "vectors.txt"
    write_shipped(Shipped("m", 384, encode_all(["a", "b", "c"], vectors)), file)
    text = file.read_text().replace(encode(vectors[1]), "not base64!")
    text = text.replace(encode(vectors[2]), encode(vectors[2])[:40])
    file.write_text(f"{text}<<<<<<< a line of a merge\n")
    read = read_shipped(file)
    first, damaged, cut, unknown = read.vectors(["a", "b", "c", "d"])
    assert read.model == "m"
    assert first is not None
    assert first @ vectors[0] == pytest.approx(1)
    assert [damaged, cut, unknown] == [None, None, None]


def test_no_file_means_no_vectors(tmp_path):
    assert read_shipped(tmp_path / "none.txt") == Shipped("", 0, {})


def test_a_key_is_of_the_text_alone():
    assert key_of("a") == key_of("a") != key_of("b")
