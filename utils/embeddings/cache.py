"""An embedder that asks another one only for texts it has not seen: in memory first, then on disk."""

from __future__ import annotations

import asyncio
import hashlib
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, overload

import numpy as np

from utils.embeddings.embedder import Embedder
from utils.embeddings.store import VectorStore
from utils.encryption.codec import PLAIN, Codec

if TYPE_CHECKING:
    from numpy.typing import NDArray

IN_MEMORY = 4096
"""Vectors kept in memory: 6 MB at 384 dimensions."""


@overload
def unstored(embedder: Embedder) -> Embedder: ...
@overload
def unstored(embedder: None) -> None: ...
def unstored(embedder: Embedder | None) -> Embedder | None:
    """The same embedder for what people say: its vectors are kept in memory, and do not stay in the file of known ones."""
    return embedder.unstored if isinstance(embedder, CachedEmbedder) else embedder


class CachedEmbedder:
    """Remembers the vectors of `inner` by content. The vectors are the same as without the cache."""

    def __init__(
        self, inner: Embedder, folder: Path | None, *, in_memory: int = IN_MEMORY, codec: Codec = PLAIN
    ) -> None:
        self._inner = inner
        self._disk = VectorStore(folder / "embeddings.sqlite", inner.name, codec) if folder else None
        self._recent: OrderedDict[bytes, NDArray[np.float32]] = OrderedDict()
        self._capacity = in_memory
        self._guard = threading.Lock()

    @property
    def unstored(self) -> Embedder:
        """One that shares what is known, and writes nothing to the file."""
        return _Unstored(self)

    @property
    def name(self) -> str:
        """Identity of the model behind the cache."""
        return self._inner.name

    @property
    def dimensions(self) -> int:
        """Length of a vector."""
        return self._inner.dimensions

    def embed_sync(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See `Embedder.embed_sync`. Each distinct text reaches the model at most once."""
        return self.vectors(texts, stored=True)

    def vectors(self, texts: Sequence[str], *, stored: bool) -> NDArray[np.float32]:
        """See `Embedder.embed_sync`; where they are not `stored`, what was not known stays in memory alone."""
        keys = [hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest() for text in texts]
        known = self._look_up(keys)
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        if missing:
            fresh = dict(zip(missing, self._inner.embed_sync(list(missing.values())), strict=True))
            if self._disk and stored:
                self._disk.write(fresh)
            known.update(fresh)
        self._remember({key: known[key] for key in keys})
        if not keys:
            return np.zeros((0, self.dimensions), dtype=np.float32)
        return np.stack([known[key] for key in keys])

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See `Embedder.embed`."""
        return await asyncio.to_thread(self.embed_sync, texts)

    def _look_up(self, keys: Sequence[bytes]) -> dict[bytes, NDArray[np.float32]]:
        with self._guard:
            known = {key: self._recent[key] for key in keys if key in self._recent}
        rest = [key for key in dict.fromkeys(keys) if key not in known]
        if rest and self._disk:
            known.update(self._disk.read(rest))
        return known

    def _remember(self, vectors: Mapping[bytes, NDArray[np.float32]]) -> None:
        with self._guard:
            for key, vector in vectors.items():
                self._recent[key] = vector
                self._recent.move_to_end(key)
            while len(self._recent) > self._capacity:
                self._recent.popitem(last=False)


class _Unstored:
    """A cache that shares what another one knows, and writes nothing to its file."""

    def __init__(self, cache: CachedEmbedder) -> None:
        self._cache = cache
        self.name = cache.name

    @property
    def dimensions(self) -> int:
        """Length of a vector."""
        return self._cache.dimensions

    def embed_sync(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See `Embedder.embed_sync`."""
        return self._cache.vectors(texts, stored=False)

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See `Embedder.embed`."""
        return await asyncio.to_thread(self.embed_sync, texts)
