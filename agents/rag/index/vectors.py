"""All vectors of an index as one NumPy matrix, read again when the index has changed."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

    Matrix = np.ndarray[tuple[int, int], np.dtype[np.float32]]
    Vector = np.ndarray[tuple[int], np.dtype[np.float32]]
    Ids = np.ndarray[tuple[int], np.dtype[np.int64]]


@dataclass(frozen=True, slots=True)
class _Loaded:
    generation: int
    model: str
    ids: Ids
    matrix: Matrix


@dataclass(frozen=True, slots=True)
class Cosines:
    """The cosine of every passage to one query. `ids` ascend."""

    ids: Ids
    values: Vector

    def of(self, wanted: Collection[int]) -> dict[int, float]:
        """Those of some passages; passages without a vector are left out."""
        import numpy as np

        if not len(self.ids) or not wanted:
            return {}
        ids = np.array(sorted(wanted), dtype=np.int64)
        places = np.minimum(np.searchsorted(self.ids, ids), len(self.ids) - 1)
        places = places[self.ids[places] == ids]
        return {int(self.ids[at]): float(self.values[at]) for at in places}

    def best(self, limit: int) -> dict[int, float]:
        """Those of the nearest passages."""
        import numpy as np

        if not len(self.ids):
            return {}
        count = min(limit, len(self.ids))
        places = np.argpartition(-self.values, count - 1)[:count]
        return {int(self.ids[at]): float(self.values[at]) for at in places}


class VectorCache:
    """Compares with every vector; safe to use from several threads."""

    def __init__(self) -> None:
        self._loaded: _Loaded | None = None
        self._lock = threading.Lock()

    def cosines(self, connection: sqlite3.Connection, model: str, query: Vector) -> Cosines:
        """All cosines to `query` (of length 1), over the vectors of its model."""
        loaded = self._current(connection, model, query.shape[0])
        return Cosines(loaded.ids, loaded.matrix @ query)

    def _current(self, connection: sqlite3.Connection, model: str, dimensions: int) -> _Loaded:
        generation = int(connection.execute("SELECT generation FROM state").fetchone()[0])
        with self._lock:
            loaded = self._loaded
            if loaded is None or (loaded.generation, loaded.model) != (generation, model):
                loaded = self._loaded = _load(connection, generation, model, dimensions)
            return loaded


def _load(connection: sqlite3.Connection, generation: int, model: str, dimensions: int) -> _Loaded:
    import numpy as np

    rows = connection.execute(
        "SELECT chunk_id, vector FROM vectors WHERE model = ? AND length(vector) = ? ORDER BY chunk_id",
        (model, 4 * dimensions),
    ).fetchall()
    ids = np.array([row[0] for row in rows], dtype=np.int64)
    matrix = np.frombuffer(b"".join(row[1] for row in rows), dtype="<f4").reshape(len(rows), dimensions)
    return _Loaded(generation, model, ids, matrix)
