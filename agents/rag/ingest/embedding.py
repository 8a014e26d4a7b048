"""Gives the passages of the index their vectors: those that come with the repository, then those of the model."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from agents.rag.index.passage_text import passage_text
from agents.rag.index.store import Stale, Store
from agents.rag.ingest.shipped import Shipped

if TYPE_CHECKING:
    from utils.embeddings import Embedder

_BATCH = 8
"""Passages embedded at once: between two batches a search gets its turn at the model."""
_SHIPPED_BATCH = 500


def _uncounted(_done: int, _total: int) -> None:
    pass


async def embed_missing(
    store: Store,
    embedder: Embedder,
    after: int = 0,
    on_batch: Callable[[int, int], None] = _uncounted,
) -> None:
    """Give vectors to the passages past an id that have none of this model.

    `on_batch` hears how many passages are done, and how many there are to do.

    Raises:
        ModelFailure: The model could not answer; the batches before stay.
    """
    total = await asyncio.to_thread(store.count_stale, embedder.name, after)
    done = 0
    if total:
        on_batch(0, total)
    while stale := await asyncio.to_thread(store.stale, embedder.name, after, _BATCH):
        vectors = await embedder.embed(texts_of(stale))
        ids = [passage.chunk_id for passage in stale]
        await asyncio.to_thread(store.put_vectors, embedder.name, ids, vectors)
        after = ids[-1]
        done += len(ids)
        on_batch(done, max(total, done))


def use_shipped(store: Store, model: str, shipped: Shipped) -> int:
    """Give passages without a vector of this model the one that is shipped. Blocks; returns how many had one."""
    import numpy as np

    if shipped.model != model:
        return 0
    after, used = 0, 0
    while stale := store.stale(model, after, _SHIPPED_BATCH):
        found = {
            passage.chunk_id: vector
            for passage, vector in zip(stale, shipped.vectors(texts_of(stale)), strict=True)
            if vector is not None
        }
        if found:
            store.put_vectors(model, list(found), np.stack(list(found.values())))
        after = stale[-1].chunk_id
        used += len(found)
    return used


def texts_of(passages: Sequence[Stale]) -> list[str]:
    """What the vectors of passages are made from."""
    return [passage_text(passage.title, passage.heading, passage.body) for passage in passages]
