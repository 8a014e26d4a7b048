"""The cache of vectors."""

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from hashlib import sha256

import numpy as np
import pytest

from agents.rag.index.embedded import EmbeddedIndex
from agents.rag.index.store import Store
from agents.rag.ingest.ingester import Ingester
from agents.rag.retrieve.library import Library
from agents.rag.settings import RagSettings
from utils.embeddings.cache import CachedEmbedder, unstored
from utils.embeddings.minilm import MiniLmEmbedder
from utils.llm.offline.similarity import Similarity


class Counting(MiniLmEmbedder):
    """The real model, with a record of what it was asked."""

    def __init__(self, name=MiniLmEmbedder.name):
        super().__init__()
        self.name = name
        self.asked = []

    def embed_sync(self, texts):
        self.asked.extend(texts)
        return super().embed_sync(texts)


@pytest.fixture
def model():
    return Counting()


def test_a_text_reaches_the_model_once_even_twice_in_one_call(model):
    cached = CachedEmbedder(model, None)
    first = cached.embed_sync(["alpha", "beta", "alpha"])
    again = cached.embed_sync(["beta", "alpha"])
    assert sorted(model.asked) == ["alpha", "beta"]
    assert np.array_equal(first[0], first[2])
    assert np.array_equal(again, first[[1, 0]])


def test_vectors_survive_a_restart(model, tmp_path):
    before = CachedEmbedder(model, tmp_path).embed_sync(["alpha"])
    later = Counting()
    after = CachedEmbedder(later, tmp_path).embed_sync(["alpha"])
    assert later.asked == []
    assert np.array_equal(before, after)


def test_two_models_do_not_share_vectors(model, tmp_path):
    CachedEmbedder(model, tmp_path).embed_sync(["alpha"])
    other = Counting("another-model")
    CachedEmbedder(other, tmp_path).embed_sync(["alpha"])
    assert other.asked == ["alpha"]


def test_memory_is_bounded_and_the_oldest_leaves_first(model):
    cached = CachedEmbedder(model, None, in_memory=2)
    cached.embed_sync(["a"])
    cached.embed_sync(["b"])
    cached.embed_sync(["a"])
    cached.embed_sync(["c"])
    cached.embed_sync(["a"])
    assert model.asked == ["a", "b", "c"]
    cached.embed_sync(["b"])
    assert model.asked == ["a", "b", "c", "b"]


def test_a_call_larger_than_memory_is_still_answered_whole(model):
    cached = CachedEmbedder(model, None, in_memory=2)
    assert cached.embed_sync([str(n) for n in range(5)]).shape == (5, 384)


def test_a_broken_cache_file_costs_time_not_the_answer(model, tmp_path):
    (tmp_path / "embeddings.sqlite").write_bytes(b"not a database at all" * 100)
    assert CachedEmbedder(model, tmp_path).embed_sync(["alpha"]).shape == (1, 384)
    assert model.asked == ["alpha"]


def test_threads_share_one_cache_file(model, tmp_path):
    cached = CachedEmbedder(model, tmp_path)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda n: cached.embed_sync([f"text {n}"]), range(12)))
    connection = sqlite3.connect(tmp_path / "embeddings.sqlite")
    assert connection.execute("SELECT count(*) FROM vectors").fetchone() == (12,)
    connection.close()


async def test_the_asynchronous_call_gives_the_same_vectors(model):
    cached = CachedEmbedder(model, None)
    assert np.array_equal(await cached.embed(["alpha"]), cached.embed_sync(["alpha"]))
    assert model.asked == ["alpha"]


def test_no_texts_give_no_vectors(model):
    assert CachedEmbedder(model, None).embed_sync([]).shape == (0, 384)


def test_what_people_say_is_known_in_memory_and_stays_in_no_file(model, tmp_path):
    cached = CachedEmbedder(model, tmp_path)
    said = unstored(cached)
    documents = cached.embed_sync(["alpha"])
    asked = said.embed_sync(["alpha", "beta"])
    assert np.array_equal(asked[0], documents[0])
    assert np.array_equal(said.embed_sync(["beta"])[0], asked[1])
    assert model.asked == ["alpha", "beta"]
    assert stored(tmp_path) == {"alpha"}


def stored(folder):
    """Which of the words have a vector in the file."""
    with closing(sqlite3.connect(folder / "embeddings.sqlite")) as file:
        keys = {
            bytes(value)
            for row in file.execute("SELECT * FROM vectors")
            for value in row
            if isinstance(value, bytes)
        }
    return {word for word in ("alpha", "beta") if sha256(word.encode()).digest() in keys}


def test_the_offline_model_stores_the_vectors_of_its_own_texts_alone(model, tmp_path):
    similarity = Similarity(CachedEmbedder(model, tmp_path))
    similarity.to_each("alpha", ["alpha beta"], passing=True)
    assert stored(tmp_path) == set()
    similarity.to_each("alpha", ["beta"])
    assert stored(tmp_path) == {"beta"}


async def test_a_search_in_the_documents_stores_no_vector_of_what_was_asked(model, tmp_path):
    document = tmp_path / "handbook.md"
    document.write_text("# Handbook\n\nThe platform team answers on weekdays.\n")
    cached, index = CachedEmbedder(model, tmp_path), EmbeddedIndex(Store(tmp_path / "index.sqlite").path)
    await Ingester(index, RagSettings(), cached).ingest([str(document)])
    found = await Library(index, cached).search("alpha", 3)
    assert "alpha" in model.asked
    assert found.articles is not None
    assert stored(tmp_path) == set()
