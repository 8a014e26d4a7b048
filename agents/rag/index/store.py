"""Writes documents to the index, each in one transaction, and reads them back whole."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from agents.rag.index import claims, schema
from agents.rag.index.failures import storage_errors
from agents.rag.index.free_name import names_for
from agents.rag.index.records import Stale, Stored
from agents.rag.ingest.chunk import Chunk
from agents.rag.ingest.document import Document

if TYPE_CHECKING:
    from agents.rag.index.vectors import Matrix


class Store:
    """The documents of one index file. Methods block: call them in a thread."""

    def __init__(self, path: Path, *, create: bool = True) -> None:
        """Open the index, creating it where there is none, unless somebody else does.

        Raises:
            StorageError: The file cannot be created or is damaged.
        """
        self.path = path
        if create:
            self.create()

    def create(self) -> None:
        """Create the index where there is none.

        Raises:
            StorageError: The file cannot be created or is damaged.
        """
        with storage_errors(self.path, "opened"):
            schema.create(self.path)

    def put(
        self,
        location: str,
        source: str,
        document: Document,
        *,
        chunks: Sequence[Chunk],
        digest: str,
        recipe: str,
    ) -> str:
        """Add a document or replace it, with its passages, all or nothing. Vectors come after.

        Args:
            location: Absolute path or URL; what identifies the document.
            source: The name to know it by in answers.
            document: Its title and text.
            chunks: Its passages.
            digest: Of its bytes.
            recipe: How it was cut.

        Returns:
            The name it is known by, which differs from `source` when another document has that.
        """
        with storage_errors(self.path, "written"), schema.writing(self.path) as connection:
            name = _known_source(connection, location) or _free_name(connection, source)
            _remove(connection, [location])
            row = connection.execute(
                "INSERT INTO documents(location, source, title, hash, recipe, text, ingested_at)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                (location, name, document.title, digest, recipe, document.text, time.time()),
            )
            _add_chunks(connection, row.lastrowid, document.title, chunks)
            return name

    def put_vectors(self, model: str, ids: Sequence[int], vectors: Matrix) -> None:
        """Replace the vectors of some passages; passages that are gone meanwhile are left out."""
        with storage_errors(self.path, "written"), schema.writing(self.path) as connection:
            _add_vectors(connection, model, ids, vectors)

    def remove(self, locations: Sequence[str]) -> int:
        """Remove documents. Returns how many there were."""
        if not locations:
            return 0
        with storage_errors(self.path, "written"), schema.writing(self.path) as connection:
            for location in locations:
                claims.forget(connection, location)
            return _remove(connection, locations)

    def settle(
        self, holds: Mapping[str, Collection[str]], gone: Sequence[str], *, configured: bool
    ) -> list[str]:
        """Write down what each source holds now, and remove what is gone or held by none any more.

        Args:
            holds: Locations of the documents of each source.
            gone: Locations of documents that are to be removed whatever holds them.
            configured: These are all sources that the settings name.

        Returns:
            The names of the documents that were removed.
        """
        with storage_errors(self.path, "written"), schema.transaction(self.path) as connection:
            released = claims.replace(connection, holds, configured=configured)
            removed: list[str] = []
            for location in dict.fromkeys([*gone, *released]):
                name = _known_source(connection, location)
                if name is not None:
                    _remove(connection, [location])
                    removed.append(name)
                    claims.forget(connection, location)
            if removed:
                schema.count_change(connection)
        return removed

    def documents(self) -> list[Stored]:
        """Every document, by name."""
        with storage_errors(self.path, "read"), schema.connect(self.path) as connection:
            rows = connection.execute(
                "SELECT location, source, title, hash, recipe,"
                " (SELECT count(*) FROM chunks WHERE document_id = documents.id"
                "  AND id NOT IN (SELECT chunk_id FROM questions)) AS passages"
                " FROM documents ORDER BY source"
            ).fetchall()
        return [Stored(**row) for row in rows]

    def stale(self, model: str, after: int, limit: int) -> list[Stale]:
        """Passages without a vector of this model, by id, from the first id past `after`."""
        with storage_errors(self.path, "read"), schema.connect(self.path) as connection:
            rows = connection.execute(
                "SELECT id AS chunk_id, title, heading, body FROM chunks WHERE id > ? AND NOT EXISTS"
                " (SELECT 1 FROM vectors WHERE chunk_id = chunks.id AND model = ?) ORDER BY id LIMIT ?",
                (after, model, limit),
            ).fetchall()
        return [Stale(**row) for row in rows]

    def count_stale(self, model: str, after: int = 0) -> int:
        """How many passages past an id have no vector of this model."""
        with storage_errors(self.path, "read"), schema.connect(self.path) as connection:
            row = connection.execute(
                "SELECT count(*) FROM chunks WHERE id > ? AND NOT EXISTS"
                " (SELECT 1 FROM vectors WHERE chunk_id = chunks.id AND model = ?)",
                (after, model),
            ).fetchone()
        return int(row[0])

    def last_id(self) -> int:
        """The highest passage id so far; 0 for an empty index."""
        with storage_errors(self.path, "read"), schema.connect(self.path) as connection:
            return int(connection.execute("SELECT coalesce(max(id), 0) FROM chunks").fetchone()[0])


def _known_source(connection: sqlite3.Connection, location: str) -> str | None:
    row = connection.execute("SELECT source FROM documents WHERE location = ?", (location,)).fetchone()
    return str(row[0]) if row else None


def _free_name(connection: sqlite3.Connection, source: str) -> str:
    taken = "SELECT 1 FROM documents WHERE source = ?"
    return next(name for name in names_for(source) if not connection.execute(taken, (name,)).fetchone())


def _remove(connection: sqlite3.Connection, locations: Sequence[str]) -> int:
    removed = 0
    for location in locations:
        key = (location,)
        inner = "(SELECT id FROM chunks WHERE document_id = (SELECT id FROM documents WHERE location = ?))"
        for table in ("vectors", "questions"):
            connection.execute(f"DELETE FROM {table} WHERE chunk_id IN {inner}", key)  # noqa: S608 - constant
        connection.execute(
            "DELETE FROM chunks WHERE document_id = (SELECT id FROM documents WHERE location = ?)", key
        )
        removed += connection.execute("DELETE FROM documents WHERE location = ?", key).rowcount
    return removed


def _add_chunks(
    connection: sqlite3.Connection, document_id: int | None, title: str, chunks: Sequence[Chunk]
) -> None:
    """Passages first and their questions after them. A question has no title: it is found by its own words."""
    ids: dict[int, int | None] = {}
    for chunk in chunks:
        named = "" if chunk.answered_by is not None else title
        heading = "\n".join(chunk.path)
        row = connection.execute(
            "INSERT INTO chunks(document_id, position, title, heading, anchor, body, first, last)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (document_id, chunk.position, named, heading, chunk.anchor, chunk.text, chunk.start, chunk.end),
        )
        ids[chunk.position] = row.lastrowid
        if chunk.answered_by is not None:
            connection.execute("INSERT INTO questions VALUES (?, ?)", (row.lastrowid, ids[chunk.answered_by]))


def _add_vectors(connection: sqlite3.Connection, model: str, ids: Sequence[int], vectors: Matrix) -> None:
    rows = zip(ids, vectors.astype("<f4"), strict=True)
    connection.executemany(
        "INSERT OR REPLACE INTO vectors(chunk_id, model, vector) SELECT id, ?, ? FROM chunks WHERE id = ?",
        [(model, vector.tobytes(), chunk_id) for chunk_id, vector in rows],
    )
