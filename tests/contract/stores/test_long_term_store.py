"""What LangGraph promises of a `BaseStore`, over SQLite and PostgreSQL, encrypted."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any

import numpy as np
import pytest
from cryptography.fernet import Fernet
from langgraph.store.base import InvalidNamespaceError

from tests.contract.stores.told import Place
from tests.support.clock import Clock
from utils.encryption.codec import Codec
from utils.errors import ModelUnavailable
from utils.memory.store import LongTermStore
from utils.persistence.stores import stores_in

CODEC = Codec([Fernet.generate_key().decode()])
ANN, BOB = ("ann", "facts"), ("bob", "facts")


class Counting:
    """An embedder whose vectors count letters, or that cannot be reached."""

    name, dimensions = "letters", 26

    def __init__(self) -> None:
        self.away = False

    def embed_sync(self, texts: Sequence[str]) -> Any:
        if self.away:
            raise ModelUnavailable("It is away.")
        rows = np.array([[text.lower().count(chr(97 + n)) for n in range(26)] for text in texts], np.float32)
        return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)

    async def embed(self, texts: Sequence[str]) -> Any:
        return self.embed_sync(texts)


@pytest.fixture
async def store(storage: Place) -> AsyncIterator[LongTermStore]:
    memories = stores_in(storage.home, storage.pool, CODEC).memories()
    await memories.open()
    yield LongTermStore(memories, Counting(), Clock(step=1))
    await memories.close()


async def test_what_is_put_is_got_from_its_namespace_alone_until_it_is_deleted(store: LongTermStore) -> None:
    await store.aput(ANN, "m", {"text": "Zoë 🙂", "more": [1, {"a": None}]})
    found = await store.aget(ANN, "m")
    assert found is not None
    assert (found.value, found.key, found.namespace) == (
        {"text": "Zoë 🙂", "more": [1, {"a": None}]},
        "m",
        ANN,
    )
    assert found.created_at == found.updated_at
    assert await store.aget(BOB, "m") is None
    assert await store.aget(("ann", "procedures"), "m") is None
    await store.adelete(ANN, "m")
    await store.adelete(ANN, "m")
    assert await store.aget(ANN, "m") is None


async def test_what_is_put_again_replaces_the_value_and_keeps_when_it_was_made(store: LongTermStore) -> None:
    await store.aput(ANN, "m", {"text": "old", "gone": True})
    await store.aput(ANN, "m", {"text": "new"})
    found = await store.aget(ANN, "m")
    assert found is not None
    assert found.value == {"text": "new"}
    assert found.created_at < found.updated_at


async def test_a_search_keeps_to_its_prefix_filter_limit_and_offset(store: LongTermStore) -> None:
    for number in range(5):
        await store.aput(ANN, f"m{number}", {"text": f"text {number}", "odd": number % 2 == 1})
    await store.aput(("ann", "procedures"), "p", {"text": "a rule"})
    await store.aput(BOB, "m", {"text": "of Bob"})
    assert [each.key for each in await store.asearch(ANN, filter={"odd": True})] == ["m1", "m3"]
    assert [each.key for each in await store.asearch(ANN, limit=2, offset=1)] == ["m1", "m2"]
    assert [each.key for each in await store.asearch(("ann",))] == ["m0", "m1", "m2", "m3", "m4", "p"]
    assert len(await store.asearch(())) == 7


async def test_a_query_orders_by_meaning_and_words(store: LongTermStore) -> None:
    for key, text in (("a", "zzz zoo"), ("b", "the harbour"), ("c", "quick foxes")):
        await store.aput(ANN, key, {"text": text})
    best, *others = await store.asearch(ANN, query="a harbour")
    assert best.key == "b"
    assert best.score is not None
    assert all(each.score is not None and each.score < best.score for each in others)


async def test_without_the_embedding_model_words_alone_find_it(storage: Place) -> None:
    memories, embedder = stores_in(storage.home, storage.pool, CODEC).memories(), Counting()
    await memories.open()
    store = LongTermStore(memories, embedder)
    embedder.away = True
    await store.aput(ANN, "a", {"text": "the harbour"})
    await store.aput(ANN, "b", {"text": "tea"})
    assert (await store.asearch(ANN, query="harbour"))[0].key == "a"
    embedder.away = False
    assert (await store.asearch(ANN, query="harbour"))[0].key == "a"
    await memories.close()


async def test_namespaces_are_listed_by_prefix_suffix_and_depth(store: LongTermStore) -> None:
    for namespace in (ANN, ("ann", "episodes"), BOB):
        await store.aput(namespace, "m", {"text": "x"})
    assert await store.alist_namespaces() == [("ann", "episodes"), ANN, BOB]
    assert await store.alist_namespaces(prefix=("ann",)) == [("ann", "episodes"), ANN]
    assert await store.alist_namespaces(suffix=("facts",)) == [ANN, BOB]
    assert await store.alist_namespaces(prefix=("*", "facts")) == [ANN, BOB]
    assert await store.alist_namespaces(max_depth=1) == [("ann",), ("bob",)]
    assert await store.alist_namespaces(limit=1, offset=1) == [ANN]


async def test_other_namespaces_and_the_blocking_methods_are_refused(store: LongTermStore) -> None:
    for namespace in (("ann",), ("ann", "facts", "more")):
        with pytest.raises(InvalidNamespaceError):
            await store.aput(namespace, "m", {"text": "x"})
    with pytest.raises(TypeError):
        await asyncio.to_thread(store.get, ANN, "m")
