"""Vectors in a SQLite file, by model and by the hash of their text.

A cache: when the file cannot be read or written (a full disk, another process that holds it for
long), the work goes on without it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from utils.encryption.codec import PLAIN, Codec, Place
from utils.encryption.errors import StorageUnreadable

if TYPE_CHECKING:
    from numpy.typing import NDArray

CHUNK = 500
"""Keys per query: SQLite's oldest builds accept 999 parameters."""
BUSY_SECONDS = 5.0
SCHEMA = """CREATE TABLE IF NOT EXISTS vectors (
    model TEXT NOT NULL, key BLOB NOT NULL, vector BLOB NOT NULL, PRIMARY KEY (model, key)) WITHOUT ROWID"""


def place_of(model: str, key: bytes) -> Place:
    """Where a vector belongs, by what it is looked up by."""
    return "vectors.vector", model, key.hex()


class VectorStore:
    """The vectors of one model in a file that several models, threads and processes may share.

    Args:
        file: The file.
        model: The model.
        codec: Encrypts the vectors, and the hashes of their texts; a vector that no key reads is not known.
    """

    def __init__(self, file: Path, model: str, codec: Codec = PLAIN) -> None:
        self._file = file
        self._codec = codec
        self._model = model

    def read(self, keys: Sequence[bytes]) -> dict[bytes, NDArray[np.float32]]:
        """The vectors that are known among `keys`."""
        found: dict[bytes, NDArray[np.float32]] = {}
        names = {self._codec.digest(key): key for key in keys}
        stored = list(names)
        with suppress(sqlite3.Error, OSError), self._connection() as connection:
            for start in range(0, len(stored), CHUNK):
                part = stored[start : start + CHUNK]
                marks = ",".join("?" * len(part))
                query = f"SELECT key, vector FROM vectors WHERE model = ? AND key IN ({marks})"  # noqa: S608 - marks are "?"
                for key, vector in connection.execute(query, (self._model, *part)):
                    with suppress(StorageUnreadable):
                        found[names[key]] = self._vector(key, vector)
        return found

    def write(self, vectors: Mapping[bytes, NDArray[np.float32]]) -> None:
        """Keep `vectors`, all or none."""
        rows = [self._row(self._codec.digest(key), vector) for key, vector in vectors.items()]
        with suppress(sqlite3.Error, OSError), self._connection() as connection, connection:
            connection.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", rows)

    def _row(self, key: bytes, vector: NDArray[np.float32]) -> tuple[str, bytes, bytes]:
        stored = self._codec.encrypt(vector.astype(np.float32).tobytes(), place_of(self._model, key))
        return self._model, key, stored

    def _vector(self, key: bytes, stored: bytes) -> NDArray[np.float32]:
        return np.frombuffer(self._codec.decrypt(stored, place_of(self._model, key)), dtype=np.float32)

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        self._file.parent.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(self._file, timeout=BUSY_SECONDS)) as connection:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=NORMAL")
            connection.execute(SCHEMA)
            yield connection
