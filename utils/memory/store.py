"""LangGraph's store of long-term memories, over the tables of this service.

LangGraph's own stores for SQLite and PostgreSQL keep values as plain JSON, and know nothing of the conversation that a
value came from. A namespace here is (owner, kind). Vectors stand encrypted beside their text and leave with it.
"""

from __future__ import annotations

import asyncio
import json
import time
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

import structlog
from langgraph.store.base import (
    BaseStore,
    GetOp,
    InvalidNamespaceError,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
)

from utils.context.search import bm25
from utils.errors import PlatformError
from utils.persistence.memories import Memories, MemoryRow

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from utils.embeddings import Embedder

log = structlog.get_logger(__name__)

_BY_MEANING = 0.7
"""Weight of the vectors in a score; that of the words is the rest."""

_DEPTH = 2


class _Stored(NamedTuple):
    """A row with what its body holds."""

    row: MemoryRow
    value: dict[str, Any]
    vector: str
    model: str

    @property
    def text(self) -> str:
        """What is searched."""
        return str(self.value.get("text", ""))


class LongTermStore(BaseStore):
    """A `BaseStore` for asynchronous use.

    Args:
        memories: Where the values are.
        embedder: Makes vectors; without one the search goes by words alone.
        clock: Seconds since 1970.
    """

    def __init__(
        self, memories: Memories, embedder: Embedder | None = None, clock: Callable[[], float] = time.time
    ) -> None:
        self._memories = memories
        self._embedder = embedder
        self._clock = clock

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Refuse: the storage is asynchronous.

        Raises:
            TypeError: Always.
        """
        del ops
        raise TypeError("Use the asynchronous methods of this store.")

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Do the operations in their order.

        Raises:
            StorageError: The storage failed.
            InvalidNamespaceError: A namespace is not (owner, kind).
        """
        return [await self._done(op) for op in ops]

    async def keep(self, owner: str, kind: str, key: str, value: Mapping[str, Any], source: str) -> None:
        """Put a value that was learnt from a conversation, with which it leaves, unless others told it too.

        Raises:
            StorageError: The storage failed.
        """
        await self._put((owner, kind), key, value, [source])

    async def _done(self, op: Op) -> Result:
        match op:
            case GetOp(namespace, key):
                return await self._get(namespace, key)
            case PutOp(namespace, key, None):
                owner, kind = _pair(namespace)
                await self._memories.remove(owner, kind, key)
            case PutOp(namespace, key, value):
                await self._put(namespace, key, value or {}, [])
            case SearchOp():
                return await self._search(op)
            case ListNamespacesOp():
                return _listed(await self._memories.owners(), op)
            case _:
                raise ValueError(f"Unknown operation {type(op).__name__}.")
        return None

    async def _get(self, namespace: tuple[str, ...], key: str) -> Item | None:
        owner, kind = _pair(namespace)
        row = await self._memories.get(owner, kind, key)
        if row is None:
            return None
        created, updated = _times(row)
        return Item(
            value=_stored(row).value, key=key, namespace=namespace, created_at=created, updated_at=updated
        )

    async def _put(
        self, namespace: tuple[str, ...], key: str, value: Mapping[str, Any], sources: Sequence[str]
    ) -> None:
        owner, kind = _pair(namespace)
        now = self._clock()
        body: dict[str, Any] = {"value": dict(value)}
        if (vector := await self._vector(str(value.get("text", "")))) is not None and self._embedder:
            body |= {"vector": _encoded(vector), "model": self._embedder.name}
        stored = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
        await self._memories.put(MemoryRow(owner, kind, key, stored, now, now), sources)

    async def _search(self, op: SearchOp) -> list[SearchItem]:
        owners = op.namespace_prefix[:1] or sorted({owner for owner, _ in await self._memories.owners()})
        kinds, found = op.namespace_prefix[1:], list[_Stored]()
        for owner in owners:
            found += [_stored(row) for row in await self._memories.all_of(owner)]
        found = [each for each in found if not kinds or (each.row.kind,) == kinds]
        found = [each for each in found if _fits(each.value, op.filter or {})]
        scores = await self._scores(op.query, found) if op.query else [0.0] * len(found)
        order = sorted(range(len(found)), key=lambda place: -scores[place])
        return [_item(found[place], scores[place] if op.query else None) for place in order][
            op.offset : op.offset + op.limit
        ]

    async def _scores(self, query: str, found: Sequence[_Stored]) -> list[float]:
        """How well each fits: by words, and by meaning where it has a vector of this model."""
        asked = await self._vector(query)
        model = self._embedder.name if self._embedder else ""
        return await asyncio.to_thread(_scored, query, asked, found, model)

    async def _vector(self, text: str) -> NDArray[np.float32] | None:
        """The vector of a text; `None` where it has none or the embedding model fails, which only makes the search worse."""
        if self._embedder is None or not text:
            return None
        try:
            return (await self._embedder.embed([text]))[0]  # type: ignore[no-any-return]
        except PlatformError as error:
            log.warning("memory.not_embedded", code=error.code)
            return None


def _scored(
    query: str, asked: NDArray[np.float32] | None, found: Sequence[_Stored], model: str
) -> list[float]:
    import numpy as np

    hits = bm25(query, [each.text for each in found], len(found))
    best = max((hit.score for hit in hits), default=1.0)
    words = {hit.place: hit.score / best for hit in hits}
    if asked is None:
        return [words.get(place, 0.0) for place in range(len(found))]
    near = [
        float(np.dot(_decoded(each.vector), asked)) if each.model == model and each.vector else 0.0
        for each in found
    ]
    return [
        _BY_MEANING * near[place] + (1 - _BY_MEANING) * words.get(place, 0.0) for place in range(len(found))
    ]


def _pair(namespace: tuple[str, ...]) -> tuple[str, str]:
    if len(namespace) != _DEPTH:
        raise InvalidNamespaceError("A namespace of this store is (owner, kind).")
    return namespace[0], namespace[1]


def _stored(row: MemoryRow) -> _Stored:
    """What a row holds; nothing where no key reads it."""
    body: dict[str, Any] = json.loads(row.body) if row.body else {}
    return _Stored(row, body.get("value") or {}, str(body.get("vector", "")), str(body.get("model", "")))


def _times(row: MemoryRow) -> tuple[datetime, datetime]:
    return datetime.fromtimestamp(row.created, UTC), datetime.fromtimestamp(row.updated, UTC)


def _item(stored: _Stored, score: float | None) -> SearchItem:
    created, updated = _times(stored.row)
    return SearchItem(
        namespace=(stored.row.owner, stored.row.kind),
        key=stored.row.id,
        value=stored.value,
        created_at=created,
        updated_at=updated,
        score=score,
    )


def _fits(value: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    return all(value.get(name) == expected for name, expected in wanted.items())


def _listed(namespaces: Sequence[tuple[str, ...]], op: ListNamespacesOp) -> list[tuple[str, ...]]:
    fitting = [each for each in namespaces if all(_matches(each, one) for one in op.match_conditions or ())]
    cut = dict.fromkeys(each[: op.max_depth] for each in fitting)
    return list(cut)[op.offset : op.offset + op.limit]


def _matches(namespace: tuple[str, ...], condition: MatchCondition) -> bool:
    path = condition.path
    if len(path) > len(namespace):
        return False
    part = namespace[: len(path)] if condition.match_type == "prefix" else namespace[-len(path) :]
    return all(wanted in {"*", label} for wanted, label in zip(path, part, strict=True))


def _encoded(vector: NDArray[np.float32]) -> str:
    return b64encode(vector.astype("<f2").tobytes()).decode("ascii")


def _decoded(text: str) -> NDArray[np.float32]:
    import numpy as np

    return np.frombuffer(b64decode(text), dtype="<f2").astype(np.float32)
