"""All vectors of an index as one NumPy matrix, read again when the index has changed."""

from __future__ import annotations

import sqlite3
import threading
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


class VectorCache:
    """Searches by cosine; safe to use from several threads."""

    def __init__(self) -> None:
        self._loaded: _Loaded | None = None
        self._lock = threading.Lock()

    def nearest(
        self, connection: sqlite3.Connection, model: str, query: Vector, limit: int
    ) -> list[tuple[int, float]]:
        """Chunk ids with their cosine to `query` (of length 1), best first."""
        import numpy as np

        loaded = self._current(connection, model, query.shape[0])
        if not len(loaded.ids):
            return []
        scores = loaded.matrix @ query
        count = min(limit, len(scores))
        best = np.argpartition(-scores, count - 1)[:count]
        best = best[np.lexsort((loaded.ids[best], -scores[best]))]
        return [(int(loaded.ids[at]), float(scores[at])) for at in best]

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
