"""Reads documents back whole or by section, by the names that answers use."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from pathlib import Path

from agents.rag.index import schema
from utils.errors import RetrievalFailed


@dataclass(frozen=True, slots=True)
class Text:
    """A document's text, or that of one section. `sections` lists (anchor, heading) of the whole."""

    source: str
    title: str
    text: str
    anchor: str
    sections: tuple[tuple[str, str], ...]


def find_text(path: Path, source: str) -> Text | None:
    """The document or section that `source` names: `docs/a.md`, `docs/a.md#anchor`, `a.md` or a title.

    A section comes with those below it; an unknown anchor gives the whole document. Blocks: call it in a thread.

    Raises:
        RetrievalFailed: The index is missing or damaged.
    """
    name, _, anchor = source.strip().partition("#")
    try:
        with schema.connect(path) as connection:
            connection.execute("BEGIN")
            row = _document(connection, name.removeprefix("./"))
            return _text(connection, row, anchor) if row is not None else None
    except sqlite3.Error as error:
        raise RetrievalFailed("The document index could not be read.") from error


def closest_sources(path: Path, source: str, limit: int) -> list[tuple[str, str]]:
    """Names and titles of the documents whose name or title resembles `source` most, best first."""
    from difflib import SequenceMatcher

    wanted = source.lower()
    try:
        with schema.connect(path) as connection:
            rows = connection.execute("SELECT source, title FROM documents").fetchall()
    except sqlite3.Error as error:
        raise RetrievalFailed("The document index could not be read.") from error

    def likeness(row: sqlite3.Row) -> float:
        return max(SequenceMatcher(None, wanted, str(text).lower()).ratio() for text in row)

    return [(row["source"], row["title"]) for row in sorted(rows, key=likeness, reverse=True)[:limit]]


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
    sections = tuple((c["anchor"], c["heading"].rpartition("\n")[2]) for c in chunks if c["anchor"])
    part = next((c for c in chunks if anchor and c["anchor"] == anchor), None)
    if part is None:
        return Text(row["source"], row["title"], row["text"], "", sections)
    last = max(c["last"] for c in chunks if c is part or _is_below(c, part))
    return Text(row["source"], row["title"], row["text"][part["first"] : last], anchor, sections)


def _is_below(section: sqlite3.Row, parent: sqlite3.Row) -> bool:
    return bool(
        parent["heading"]
        and section["heading"].startswith(parent["heading"] + "\n")
        and section["first"] > parent["first"]
    )
