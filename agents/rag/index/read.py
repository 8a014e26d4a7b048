"""Reads documents back whole or by section, by the names that answers use."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from agents.rag.index import schema
from agents.rag.index.failures import retrieval_errors
from agents.rag.index.sections import Span, Text, closest, text_of


def find_text(path: Path, source: str) -> Text | None:
    """The document or section that `source` names: `docs/a.md`, `docs/a.md#anchor`, `a.md` or a title.

    A section comes with those below it; an unknown anchor gives the whole document. Blocks: call it in a thread.

    Raises:
        RetrievalFailed: The index is missing or damaged.
    """
    name, _, anchor = source.strip().partition("#")
    with retrieval_errors(path, "read"), schema.connect(path) as connection:
        connection.execute("BEGIN")
        row = _document(connection, name.removeprefix("./"))
        return _text(connection, row, anchor) if row is not None else None


def closest_sources(path: Path, source: str, limit: int) -> list[tuple[str, str]]:
    """Names and titles of the documents whose name or title resembles `source` most, best first."""
    with retrieval_errors(path, "read"), schema.connect(path) as connection:
        rows = connection.execute("SELECT source, title FROM documents").fetchall()
    return closest([(row[0], row[1]) for row in rows], source, limit)


def _document(connection: sqlite3.Connection, name: str) -> sqlite3.Row | None:
    """By exact name, else by the one document whose path ends so, else by the one with that title."""
    for condition, value in (
        ("source = ?", name),
        ("lower(source) = lower(?)", name),
        ("lower(substr(source, -length(?1) - 1)) = lower('/' || ?1)", name),
        ("lower(title) = lower(?)", name),
    ):
        query = f"SELECT id, source, title, text FROM documents WHERE {condition} LIMIT 2"  # noqa: S608 - constant
        rows = connection.execute(query, (value,)).fetchall()
        if len(rows) == 1:
            found: sqlite3.Row = rows[0]
            return found
    return None


def _text(connection: sqlite3.Connection, row: sqlite3.Row, anchor: str) -> Text:
    chunks = connection.execute(
        "SELECT anchor, heading, min(first) AS first, max(last) AS last FROM chunks"
        " WHERE document_id = ? AND id NOT IN (SELECT chunk_id FROM questions) GROUP BY anchor, heading ORDER BY min(position)",
        (row["id"],),
    ).fetchall()
    spans = [Span(row["anchor"], row["heading"], row["first"], row["last"]) for row in chunks]
    return text_of(row["source"], row["title"], row["text"], spans, anchor)
