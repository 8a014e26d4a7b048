"""Vectors in a SQLite file, by model and by the hash of their text.

A cache: if the file cannot be read or written (a full disk, another process that holds it for long), the work goes on without it, and
the log tells once. A file that is no database any more is deleted and begun anew; a damaged row is not known, and is written anew.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import finalize

import numpy as np
import structlog

from utils.embeddings.vectors import SMALLEST_NORM
from utils.encryption.codec import PLAIN, Codec, Place
from utils.encryption.errors import StorageUnreadable

if TYPE_CHECKING:
    from numpy.typing import NDArray

log = structlog.get_logger(__name__)

CHUNK = 500
"""Keys per query: SQLite's oldest builds accept 999 parameters."""
BUSY_SECONDS = 5.0
LARGEST_FILE = 256 * 1024 * 1024
"""Bytes of the file: 160,000 vectors of 384 numbers. Past it, those that were used longest ago are deleted."""
KEPT = 0.8
"""The part of the rows that then stays, so that this is seldom done."""
OFF_ONE = 1e-3
"""How far the length of a stored vector may be from one: float32 sums of thousands of squares stay within a tenth of it."""
DAY = 86_400
"""Seconds in which one use of a vector is noted: a row is written once a day at most because it was read."""
SCHEMA = """CREATE TABLE IF NOT EXISTS vectors (
    model TEXT NOT NULL, key BLOB NOT NULL, vector BLOB NOT NULL, used INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (model, key)) WITHOUT ROWID"""
USED = "ALTER TABLE vectors ADD COLUMN used INTEGER NOT NULL DEFAULT 0"
"""What the file of an earlier version lacks: the day of the last use, counted from 1970."""
_DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})


def place_of(model: str, key: bytes) -> Place:
    """Where a vector belongs, by what it is looked up by."""
    return "vectors.vector", model, key.hex()


class VectorStore:
    """The vectors of one model in a file that several models, threads and processes may share.

    Args:
        file: The file.
        model: The model.
        codec: Encrypts the vectors, and the hashes of their texts; a vector that no key reads is not known.
        largest: Most bytes of the file.
        clock: Seconds since 1970.
    """

    def __init__(
        self,
        file: Path,
        model: str,
        codec: Codec = PLAIN,
        *,
        largest: int = LARGEST_FILE,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._file = file
        self._codec = codec
        self._model = model
        self._largest = largest
        self._clock = clock
        self._turn = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._close: Callable[[], object] = _nothing
        self._told: set[str] = set()

    def read(self, keys: Sequence[bytes]) -> dict[bytes, NDArray[np.float32]]:
        """The vectors that are known among `keys`."""
        found: dict[bytes, NDArray[np.float32]] = {}
        names = {self._codec.digest(key): key for key in keys}

        def work(connection: sqlite3.Connection) -> None:
            rows = self._rows(connection, list(names))
            damaged, old = list[bytes](), list[bytes]()
            for name, stored, used in rows:
                with suppress(StorageUnreadable):
                    vector = self._vector(name, stored)
                    if vector is None:
                        damaged.append(name)
                        continue
                    found[names[name]] = vector
                    if used < self._today:
                        old.append(name)
            self._delete(connection, damaged)
            self._note_use(connection, old)

        self._try(work)
        return found

    def write(self, vectors: Mapping[bytes, NDArray[np.float32]]) -> None:
        """Keep `vectors`, all or none."""
        rows = [self._row(self._codec.digest(key), vector) for key, vector in vectors.items()]

        def work(connection: sqlite3.Connection) -> None:
            with connection:
                connection.executemany(
                    "INSERT OR REPLACE INTO vectors (model, key, vector, used) VALUES (?, ?, ?, ?)",
                    [(*row, self._today) for row in rows],
                )
                if _size(connection) > self._largest:
                    _shrink(connection)

        self._try(work)

    @property
    def _today(self) -> int:
        return int(self._clock() // DAY)

    def _rows(
        self, connection: sqlite3.Connection, names: Sequence[bytes]
    ) -> Iterator[tuple[bytes, bytes, int]]:
        for start in range(0, len(names), CHUNK):
            part = names[start : start + CHUNK]
            marks = ",".join("?" * len(part))
            query = f"SELECT key, vector, used FROM vectors WHERE model = ? AND key IN ({marks})"  # noqa: S608 - marks are "?"
            yield from connection.execute(query, (self._model, *part)).fetchall()

    def _row(self, key: bytes, vector: NDArray[np.float32]) -> tuple[str, bytes, bytes]:
        stored = self._codec.encrypt(vector.astype(np.float32).tobytes(), place_of(self._model, key))
        return self._model, key, stored

    def _vector(self, key: bytes, stored: object) -> NDArray[np.float32] | None:
        """The vector of a row; `None` if it is damaged: then its length is not one.

        Raises:
            StorageUnreadable: No key reads it.
        """
        plain = self._codec.decrypt(stored, place_of(self._model, key)) if isinstance(stored, bytes) else b"?"
        if len(plain) % np.dtype(np.float32).itemsize:
            return None
        vector = np.frombuffer(plain, dtype=np.float32)
        with np.errstate(all="ignore"):  # damage may be any numbers
            length = float(np.linalg.norm(vector))
        whole = abs(length - 1) < OFF_ONE or (vector.size > 0 and length <= SMALLEST_NORM)
        return vector if whole else None

    def _delete(self, connection: sqlite3.Connection, damaged: Sequence[bytes]) -> None:
        if damaged:
            log.warning("embeddings.rows_damaged", rows=len(damaged))
            with connection:
                connection.executemany(
                    "DELETE FROM vectors WHERE model = ? AND key = ?",
                    [(self._model, name) for name in damaged],
                )

    def _note_use(self, connection: sqlite3.Connection, names: Sequence[bytes]) -> None:
        if names:
            with connection:
                connection.executemany(
                    "UPDATE vectors SET used = ? WHERE model = ? AND key = ?",
                    [(self._today, self._model, name) for name in names],
                )

    def _try(self, work: Callable[[sqlite3.Connection], None]) -> None:
        """Do what can be done without: what fails is logged, once of each kind, and the file is opened anew the next time."""
        with self._turn:
            try:
                work(self._connection or self._connect())
            except (sqlite3.Error, OSError) as error:
                self._drop()
                name = getattr(error, "sqlite_errorname", type(error).__name__)
                if name not in self._told:
                    self._told.add(name)
                    log.warning("embeddings.cache_failed", file=self._file.name, reason=name)
                if getattr(error, "sqlite_errorcode", 0) & 0xFF in _DAMAGED:  # the rest tells which kind
                    self._begin_anew()

    def _connect(self) -> sqlite3.Connection:
        self._file.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(self._file, timeout=BUSY_SECONDS, check_same_thread=False)
        self._connection, self._close = connection, finalize(self, connection.close)
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=NORMAL")
        connection.execute(SCHEMA)
        if "used" not in {column[1] for column in connection.execute("PRAGMA table_info(vectors)")}:
            connection.execute(USED)
        return connection

    def _drop(self) -> None:
        self._connection = None
        with suppress(sqlite3.Error):
            self._close()

    def _begin_anew(self) -> None:
        for end in ("", "-wal", "-shm"):
            with suppress(OSError):
                self._file.with_name(self._file.name + end).unlink(missing_ok=True)


def _nothing() -> None:
    pass


def _size(connection: sqlite3.Connection) -> int:
    """Bytes of the file that are in use."""
    pages, free, size = (
        connection.execute(f"PRAGMA {name}").fetchone()[0]
        for name in ("page_count", "freelist_count", "page_size")
    )
    return int((pages - free) * size)


def _shrink(connection: sqlite3.Connection) -> None:
    (rows,) = connection.execute("SELECT count(*) FROM vectors").fetchone()
    gone = rows - int(rows * KEPT)
    log.info("embeddings.cache_full", deleted=gone)
    connection.execute(
        "DELETE FROM vectors WHERE (model, key) IN (SELECT model, key FROM vectors ORDER BY used LIMIT ?)",
        (gone,),
    )
