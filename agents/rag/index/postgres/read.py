"""Reads documents of the shared index back whole or by section, by the names that answers use."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from agents.rag.index.postgres.search import ONE_STATE
from agents.rag.index.sections import Span, Text, text_of

if TYPE_CHECKING:
    from utils.persistence.postgres.pool import Connection, PostgresPool

_NAMES = "SELECT id, source, title FROM rag_documents WHERE state > 0"
_SPANS = """
SELECT anchor, heading, min(first), max(last) FROM rag_chunks WHERE document_id = %s AND answered_by IS NULL
GROUP BY anchor, heading ORDER BY min(position)
"""

Name = tuple[int, str, str]
"""Id, name and title of a document."""


async def names(pool: PostgresPool) -> list[Name]:
    """Those of every document that readers see."""
    return await pool.run(_names)


async def find_text(pool: PostgresPool, source: str) -> Text | None:
    """The document or section that `source` names; `DocumentIndex.find_text` says more."""
    name, _, anchor = source.strip().partition("#")

    async def look(db: Connection) -> Text | None:
        await db.execute(ONE_STATE)
        found = _meant(await _names(db), name.removeprefix("./"))
        if found is None:
            return None
        row = await (await db.execute("SELECT text FROM rag_documents WHERE id = %s", found[:1])).fetchone()
        rows = await (await db.execute(_SPANS, found[:1])).fetchall()
        spans = [Span(bytes(each[0]).decode(), bytes(each[1]).decode(), each[2], each[3]) for each in rows]
        return text_of(found[1], found[2], bytes(row[0]).decode() if row else "", spans, anchor)

    return await pool.run(look)


async def _names(db: Connection) -> list[Name]:
    rows = await (await db.execute(_NAMES)).fetchall()
    return [(row[0], row[1], bytes(row[2]).decode()) for row in rows]


def _meant(documents: Sequence[Name], name: str) -> Name | None:
    """By exact name, else by the one document whose path ends so, else by the one with that title."""
    wanted = name.lower()
    means: list[Callable[[Name], bool]] = [
        lambda each: each[1] == name,
        lambda each: each[1].lower() == wanted,
        lambda each: each[1].lower().endswith(f"/{wanted}"),
        lambda each: each[2].lower() == wanted,
    ]
    for meant in means:
        found = [each for each in documents if meant(each)]
        if len(found) == 1:
            return found[0]
    return None
