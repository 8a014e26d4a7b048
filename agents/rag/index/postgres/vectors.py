"""Compares a question's vector with those of the shared index: in the database where it can, else in this process."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from psycopg import sql

from agents.rag.index.ranking import CANDIDATES
from agents.rag.index.vectors import Cosines

if TYPE_CHECKING:
    from agents.rag.index.vectors import Ids, Matrix, Vector
    from utils.persistence.postgres.pool import Connection

_EXTENSION = """
SELECT nspname FROM pg_extension JOIN pg_namespace ON pg_namespace.oid = extnamespace WHERE extname = 'vector'
"""
_SEEN = """
FROM rag_vectors AS vectors JOIN rag_chunks AS chunk ON chunk.id = vectors.chunk_id
JOIN rag_documents AS document ON document.id = chunk.document_id
WHERE document.state > 0 AND vectors.model = %(model)s AND array_length(vectors.vector, 1) = %(size)s
"""
_ALL = f"SELECT vectors.chunk_id, array_send(vectors.vector) {_SEEN} ORDER BY vectors.chunk_id"
_ARRAY_HEAD = 20
"""Bytes before the first number of an array as PostgreSQL sends it."""


class Comparison(Protocol):
    """One question's cosines, within the transaction they were asked for in."""

    async def best(self) -> dict[int, float]:
        """Those of the nearest passages."""

    async def of(self, wanted: Collection[int]) -> dict[int, float]:
        """Those of some passages; passages without a vector are left out."""


class Comparer(Protocol):
    """Makes comparisons."""

    async def compare(self, db: Connection, model: str, query: Vector) -> Comparison:
        """The cosines to `query` (of length 1) of the vectors of its model, as `db`'s transaction sees them."""


async def comparer_for(db: Connection) -> Comparer:
    """That of the extension pgvector where the database has it."""
    row = await (await db.execute(_EXTENSION)).fetchone()
    return InProcess() if row is None else InDatabase(str(row[0]))


@dataclass(frozen=True, slots=True)
class _Loaded:
    generation: int
    model: str
    ids: Ids
    matrix: Matrix


class _Held:
    def __init__(self, cosines: Cosines) -> None:
        self._cosines = cosines

    async def best(self) -> dict[int, float]:
        return self._cosines.best(CANDIDATES)

    async def of(self, wanted: Collection[int]) -> dict[int, float]:
        return self._cosines.of(wanted)


class InProcess:
    """Holds all vectors as one matrix, which is read again when the index has changed."""

    def __init__(self) -> None:
        self._loaded: _Loaded | None = None
        self._loading = asyncio.Lock()

    async def compare(self, db: Connection, model: str, query: Vector) -> Comparison:
        """The cosines to `query`."""
        row = await (await db.execute("SELECT generation FROM rag_state")).fetchone()
        generation = int(row[0]) if row else 0
        async with self._loading:
            loaded = self._loaded
            if loaded is None or (loaded.generation, loaded.model) != (generation, model):
                loaded = self._loaded = await _load(db, generation, model, query.shape[0])
        return _Held(Cosines(loaded.ids, await asyncio.to_thread(lambda: loaded.matrix @ query)))


async def _load(db: Connection, generation: int, model: str, size: int) -> _Loaded:
    rows = await (await db.execute(_ALL.encode(), {"model": model, "size": size})).fetchall()

    def parse() -> _Loaded:
        import numpy as np

        number = np.dtype([("bytes", ">i4"), ("value", ">f4")])
        array = np.dtype([("head", f"V{_ARRAY_HEAD}"), ("numbers", number, (size,))])
        arrays = np.frombuffer(b"".join(row[1] for row in rows), dtype=array)
        ids = np.array([row[0] for row in rows], dtype=np.int64)
        return _Loaded(generation, model, ids, arrays["numbers"]["value"].astype(np.float32))

    return await asyncio.to_thread(parse)


class InDatabase:
    """Has the extension pgvector compare; this process holds no vectors.

    Args:
        schema: Where the extension is, which the agent's connections do not look in.
    """

    def __init__(self, schema: str) -> None:
        named = {"type": sql.Identifier(schema, "vector"), "schema": sql.Identifier(schema)}
        cosine = sql.SQL("1 - (vectors.vector::{type} OPERATOR({schema}.<=>) %(query)s::{type})").format(
            **named
        )
        every = sql.SQL("SELECT vectors.chunk_id, ") + cosine + sql.SQL(_SEEN)
        self._best = every + sql.SQL("ORDER BY 2 DESC, 1 LIMIT ") + sql.Literal(CANDIDATES)
        self._of = every + sql.SQL("AND vectors.chunk_id = ANY(%(ids)s)")

    async def compare(self, db: Connection, model: str, query: Vector) -> Comparison:
        """The cosines to `query`."""
        values = {"model": model, "size": query.shape[0], "query": str(query.tolist())}
        return _Asked(db, self._best, self._of, values)


class _Asked:
    def __init__(
        self, db: Connection, best: sql.Composed, of: sql.Composed, values: dict[str, object]
    ) -> None:
        self._db, self._best, self._of, self._values = db, best, of, values

    async def best(self) -> dict[int, float]:
        return await self._select(self._best, self._values)

    async def of(self, wanted: Collection[int]) -> dict[int, float]:
        if not wanted:
            return {}
        return await self._select(self._of, {**self._values, "ids": list(wanted)})

    async def _select(self, query: sql.Composed, values: dict[str, object]) -> dict[int, float]:
        rows = await (await self._db.execute(query, values)).fetchall()
        return {int(row[0]): float(row[1]) for row in rows}
