"""An embedder that asks another one only for texts it has not seen: in memory first, then on disk."""

from __future__ import annotations

import asyncio
import hashlib
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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
        wanted = self._look_up(texts)
        while wanted.unknown:
            self._add(wanted, self._inner.embed_sync(wanted.asked), stored=stored)
        return self._whole(wanted) if texts else self._inner.embed_sync([])

    async def vectors_off_loop(self, texts: Sequence[str], *, stored: bool) -> NDArray[np.float32]:
        """The same. The file is read and written in a thread; none waits for the model."""
        wanted = await asyncio.to_thread(self._look_up, texts)
        while wanted.unknown:
            fresh = await self._inner.embed(wanted.asked)
            await asyncio.to_thread(self._add, wanted, fresh, stored=stored)
        return self._whole(wanted) if texts else await self._inner.embed([])

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See `Embedder.embed`."""
        return await self.vectors_off_loop(texts, stored=True)

    def _look_up(self, texts: Sequence[str]) -> _Wanted:
        keys = [hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest() for text in texts]
        return _Wanted(keys, dict(zip(keys, texts, strict=True)), self._known(keys))

    def _add(self, wanted: _Wanted, fresh: NDArray[np.float32], *, stored: bool) -> None:
        found = dict(zip(wanted.unknown, fresh, strict=True))
        if self._disk and stored:
            self._disk.write(found)
        wanted.add(found)

    def _whole(self, wanted: _Wanted) -> NDArray[np.float32]:
        self._remember(wanted.known)
        return np.stack([wanted.known[key] for key in wanted.keys])

    def _known(self, keys: Sequence[bytes]) -> dict[bytes, NDArray[np.float32]]:
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


@dataclass(slots=True)
class _Wanted:
    """The vectors that a call wants.

    Attributes:
        keys: The hashes of its texts, in their order.
        texts: The text of each.
        known: The vectors that are known by now.
    """

    keys: Sequence[bytes]
    texts: Mapping[bytes, str]
    known: dict[bytes, NDArray[np.float32]]

    @property
    def unknown(self) -> list[bytes]:
        """The hashes without a vector, each once."""
        return [key for key in self.texts if key not in self.known]

    @property
    def asked(self) -> list[str]:
        """Their texts."""
        return [self.texts[key] for key in self.unknown]

    def add(self, fresh: Mapping[bytes, NDArray[np.float32]]) -> None:
        """Take what the model made. If its vectors have another length than known ones, it was changed, and is asked for all."""
        if {each.shape for each in self.known.values()} <= {each.shape for each in fresh.values()}:
            self.known.update(fresh)
        else:
            self.known = {}


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
        return await self._cache.vectors_off_loop(texts, stored=False)
