"""Gives the passages of the index their vectors: those that come with the repository, then those of the model."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from agents.rag.index.passage_text import passage_text
from agents.rag.index.records import Stale
from agents.rag.ingest.shipped import Shipped

if TYPE_CHECKING:
    from agents.rag.index.contract import DocumentIndex
    from utils.embeddings import Embedder

_BATCH = 8
"""Passages embedded at once: between two batches a search gets its turn at the model."""
_SHIPPED_BATCH = 500


def _uncounted(_done: int, _total: int) -> None:
    pass


async def embed_missing(
    index: DocumentIndex,
    embedder: Embedder,
    after: int = 0,
    on_batch: Callable[[int, int], None] = _uncounted,
) -> None:
    """Give vectors to the passages past an id that have none of this model.

    `on_batch` hears how many passages are done, and how many there are to do.

    Raises:
        ModelFailure: The model could not answer; the batches before stay.
    """
    total = await index.count_stale(embedder.name, after)
    done = 0
    if total:
        on_batch(0, total)
    while stale := await index.stale(embedder.name, after, _BATCH):
        vectors = await embedder.embed(texts_of(stale))
        ids = [passage.chunk_id for passage in stale]
        await index.put_vectors(embedder.name, ids, vectors)
        after = ids[-1]
        done += len(ids)
        on_batch(done, max(total, done))


async def use_shipped(index: DocumentIndex, model: str, shipped: Shipped) -> int:
    """Give passages without a vector of this model the one that is shipped. Returns how many had one."""
    import numpy as np

    if shipped.model != model:
        return 0
    after, used = 0, 0
    while stale := await index.stale(model, after, _SHIPPED_BATCH):
        found = {
            passage.chunk_id: vector
            for passage, vector in zip(
                stale, await asyncio.to_thread(shipped.vectors, texts_of(stale)), strict=True
            )
            if vector is not None
        }
        if found:
            await index.put_vectors(model, list(found), np.stack(list(found.values())))
        after = stale[-1].chunk_id
        used += len(found)
    return used


def texts_of(passages: Sequence[Stale]) -> list[str]:
    """What the vectors of passages are made from."""
    return [passage_text(passage.title, passage.heading, passage.body) for passage in passages]
