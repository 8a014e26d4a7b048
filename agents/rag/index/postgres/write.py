"""Writes to the shared index: each function is part of a transaction of one writer at a time.

A new version of a document waits, unseen, beside the one that readers see, until `publish` puts it in its place. What an
ingestion finds gone is seen until then too.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from agents.rag.index.free_name import names_for
from agents.rag.index.postgres.words import TO_WORDS, words_of

if TYPE_CHECKING:
    from agents.rag.index.vectors import Matrix
    from agents.rag.ingest.chunk import Chunk
    from agents.rag.ingest.document import Document
    from utils.persistence.postgres.pool import Connection

_DOCUMENT = """
INSERT INTO rag_documents (location, source, title, hash, recipe, text, state) VALUES (%s, %s, %s, %s, %s, %s, 0)
RETURNING id
"""
_CHUNK = f"""
INSERT INTO rag_chunks (id, document_id, position, title, heading, anchor, body, first, last, answered_by, size, words)
VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, {TO_WORDS})
"""  # noqa: S608 - constant
_VECTOR = """
INSERT INTO rag_vectors (chunk_id, model, vector) SELECT id, %(model)s, %(vector)s::real[] FROM rag_chunks WHERE id = %(id)s
ON CONFLICT (chunk_id, model) DO UPDATE SET vector = EXCLUDED.vector
"""
_ANY_SEEN = """
SELECT 1 FROM rag_chunks JOIN rag_documents ON rag_documents.id = document_id
WHERE rag_chunks.id = ANY(%s) AND state > 0 LIMIT 1
"""
_REPLACED = """
DELETE FROM rag_documents AS seen WHERE state = 2 OR state = 1 AND EXISTS
(SELECT 1 FROM rag_documents WHERE location = seen.location AND state = 0)
"""
_RELEASE = "DELETE FROM rag_claims WHERE target = %s AND location = %s AND configured = %s"
_CLAIM = "INSERT INTO rag_claims (target, location, configured) VALUES (%s, %s, %s) ON CONFLICT DO NOTHING"


def stored(text: str) -> bytes:
    """A text as it is stored."""
    return text.encode("utf-8", "replace")


async def count_change(db: Connection) -> None:
    """Raise the generation, so that whoever holds vectors reads them again."""
    await db.execute("UPDATE rag_state SET generation = generation + 1")


async def put(
    db: Connection,
    location: str,
    source: str,
    document: Document,
    *,
    chunks: Sequence[Chunk],
    digest: str,
    recipe: str,
) -> str:
    """Add a document that waits to be seen; return the name that it is known by."""
    key = stored(location)
    name = await _name(db, key, source)
    await db.execute("DELETE FROM rag_documents WHERE location = %s AND state = 0", (key,))
    values = (key, name, stored(document.title), digest, recipe, stored(document.text))
    row = await (await db.execute(_DOCUMENT, values)).fetchone()
    await _add_chunks(db, row[0] if row else 0, document.title, chunks)
    return name


async def _name(db: Connection, location: bytes, source: str) -> str:
    known = "SELECT source FROM rag_documents WHERE location = %s AND state < 2 ORDER BY state LIMIT 1"
    row = await (await db.execute(known, (location,))).fetchone()
    if row:
        return str(row[0])
    taken = "SELECT 1 FROM rag_documents WHERE source = %s AND state < 2"
    for name in names_for(source):
        if await (await db.execute(taken, (name,))).fetchone() is None:
            return name
    return source


async def _add_chunks(db: Connection, document: int, title: str, chunks: Sequence[Chunk]) -> None:
    """Passages and their questions. A question has no title: it is found by its own words."""
    numbers = "SELECT nextval('rag_chunk_ids') FROM generate_series(1, %s)"
    rows = await (await db.execute(numbers, (len(chunks),))).fetchall()
    ids = {chunk.position: int(row[0]) for chunk, row in zip(chunks, rows, strict=True)}
    values = []
    for chunk in chunks:
        named = "" if chunk.answered_by is not None else title
        heading = "\n".join(chunk.path)
        texts = [stored(text) for text in (named, heading, chunk.anchor, chunk.text)]
        answer = None if chunk.answered_by is None else ids[chunk.answered_by]
        span = (chunk.start, chunk.end, answer)
        words = words_of(named, heading, chunk.text)
        values.append((ids[chunk.position], document, chunk.position, *texts, *span, *words))
    await db.cursor().executemany(_CHUNK.encode(), values)


async def put_vectors(db: Connection, model: str, ids: Sequence[int], vectors: Matrix) -> None:
    """Replace the vectors of some passages; passages that are gone meanwhile are left out."""
    values = [
        {"id": id_, "model": model, "vector": vector.tolist()}
        for id_, vector in zip(ids, vectors, strict=True)
    ]
    await db.cursor().executemany(_VECTOR, values)
    if await (await db.execute(_ANY_SEEN, (list(ids),))).fetchone():
        await count_change(db)


async def publish(db: Connection, model: str) -> None:
    """Put what waits in the place of what it replaces."""
    replaced = await db.execute(_REPLACED)
    shown = await db.execute("UPDATE rag_documents SET state = 1 WHERE state = 0")
    dropped = await db.execute("DELETE FROM rag_vectors WHERE model <> %s", (model,)) if model else None
    if replaced.rowcount or shown.rowcount or (dropped and dropped.rowcount):
        await count_change(db)


async def remove(db: Connection, locations: Sequence[str]) -> int:
    """Remove documents with all that is known of them; return how many there were."""
    keys = [stored(location) for location in locations]
    await db.execute("DELETE FROM rag_claims WHERE location = ANY(%s)", (keys,))
    rows = await (
        await db.execute("DELETE FROM rag_documents WHERE location = ANY(%s) RETURNING location", (keys,))
    ).fetchall()
    if rows:
        await count_change(db)
    return len({bytes(row[0]) for row in rows})


async def settle(
    db: Connection, holds: Mapping[str, Collection[str]], gone: Sequence[str], *, configured: bool
) -> list[str]:
    """Write down what each source holds; let go of what is gone or held by none. Return the names of these."""
    released = await _claim(db, holds, configured=configured)
    names: list[str] = []
    for key in dict.fromkeys([*map(stored, gone), *released]):
        known = "SELECT source FROM rag_documents WHERE location = %s AND state < 2 ORDER BY state LIMIT 1"
        row = await (await db.execute(known, (key,))).fetchone()
        if row is not None:
            names.append(str(row[0]))
            await db.execute("DELETE FROM rag_documents WHERE location = %s AND state = 0", (key,))
            await db.execute("UPDATE rag_documents SET state = 2 WHERE location = %s", (key,))
            await db.execute("DELETE FROM rag_claims WHERE location = %s", (key,))
    return names


async def _claim(db: Connection, holds: Mapping[str, Collection[str]], *, configured: bool) -> list[bytes]:
    """Write down what each source holds now; return what no source holds any more."""
    held = {stored(target): {stored(location) for location in found} for target, found in holds.items()}
    query = "SELECT target, location FROM rag_claims WHERE configured = %s"
    rows = await (await db.execute(query, (configured,))).fetchall()
    claims = {(bytes(row[0]), bytes(row[1])) for row in rows}
    before = {claim for claim in claims if configured or claim[0] in held}
    now = {(target, location) for target, found in held.items() for location in found}
    await db.cursor().executemany(_RELEASE, [(*claim, configured) for claim in before - now])
    await db.cursor().executemany(_CLAIM, [(*claim, configured) for claim in now - before])
    released = sorted({location for _, location in before - now})
    still = "SELECT DISTINCT location FROM rag_claims WHERE location = ANY(%s)"
    kept = {bytes(row[0]) for row in await (await db.execute(still, (released,))).fetchall()}
    return [location for location in released if location not in kept]
