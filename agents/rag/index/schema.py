"""The index file: one SQLite database that several processes may read and write at once."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from agents.rag.index import claims

VERSION = 1
"""Raised with every change below; an index of another version is rebuilt."""

_BUSY_SECONDS = 15.0
"""How long a writer waits for another process' transaction; each is one document, so milliseconds."""

_SCHEMA = """
CREATE TABLE documents (
    id INTEGER PRIMARY KEY,
    location TEXT NOT NULL UNIQUE,  -- absolute path or URL; never leaves this file
    source TEXT NOT NULL UNIQUE,    -- the name in answers
    title TEXT NOT NULL,
    hash TEXT NOT NULL,             -- of the bytes as read
    recipe TEXT NOT NULL,           -- how it was cut; another recipe cuts it anew
    text TEXT NOT NULL,
    ingested_at REAL NOT NULL       -- Unix time, seconds
);
CREATE TABLE chunks (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    document_id INTEGER NOT NULL REFERENCES documents(id),
    position INTEGER NOT NULL,
    title TEXT NOT NULL,
    heading TEXT NOT NULL,          -- heading path, one a line
    anchor TEXT NOT NULL,
    body TEXT NOT NULL,
    first INTEGER NOT NULL,         -- span in documents.text
    last INTEGER NOT NULL
);
CREATE INDEX chunks_of_document ON chunks(document_id, position);
CREATE TABLE vectors (
    chunk_id INTEGER PRIMARY KEY REFERENCES chunks(id),
    model TEXT NOT NULL,
    vector BLOB NOT NULL            -- float32, little endian, length 1
);
CREATE TABLE state (generation INTEGER NOT NULL);
INSERT INTO state VALUES (0);
CREATE VIRTUAL TABLE words USING fts5(
    title, heading, body, content='chunks', content_rowid='id', tokenize='porter unicode61'
);
CREATE TRIGGER chunks_added AFTER INSERT ON chunks BEGIN
    INSERT INTO words(rowid, title, heading, body) VALUES (new.id, new.title, new.heading, new.body);
END;
CREATE TRIGGER chunks_removed AFTER DELETE ON chunks BEGIN
    INSERT INTO words(words, rowid, title, heading, body)
    VALUES ('delete', old.id, old.title, old.heading, old.body);
END;
"""


_QUESTIONS = """
CREATE TABLE IF NOT EXISTS questions (
    chunk_id INTEGER PRIMARY KEY REFERENCES chunks(id),
    answered_by INTEGER NOT NULL REFERENCES chunks(id)
)
"""
"""Which passages are questions, and the passage that answers each; added to an index of the same version."""

_ADDED = 2
"""What was added to an index of this version: the index of the claims, and the questions."""


@contextmanager
def connect(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection for one piece of work, closed after it. Transactions are begun by the caller."""
    connection = sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None)
    try:
        connection.row_factory = sqlite3.Row
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA synchronous = NORMAL")
        yield connection
    finally:
        connection.close()


@contextmanager
def transaction(path: Path) -> Iterator[sqlite3.Connection]:
    """A write transaction; rolled back whole on any error."""
    with connect(path) as connection, _transaction(connection):
        yield connection


@contextmanager
def writing(path: Path) -> Iterator[sqlite3.Connection]:
    """A write transaction that raises the generation."""
    with transaction(path) as connection:
        yield connection
        count_change(connection)


def count_change(connection: sqlite3.Connection) -> None:
    """Raise the generation, so that whoever has read the documents reads them again."""
    connection.execute("UPDATE state SET generation = generation + 1")


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def create(path: Path) -> None:
    """Make the index file if there is none; rebuild it if it has another version."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with connect(path) as connection:
        if _is_complete(connection):
            return
        connection.execute("PRAGMA journal_mode = WAL")
        with _transaction(connection):
            _create_tables(connection)
            connection.execute(claims.TABLE)
            connection.execute(claims.INDEX)
            connection.execute(_QUESTIONS)


def _is_complete(connection: sqlite3.Connection) -> bool:
    names = "SELECT count(*) FROM sqlite_master WHERE name IN ('claims_by_location', 'questions')"
    added: int = connection.execute(names).fetchone()[0]
    return added == _ADDED and connection.execute("PRAGMA user_version").fetchone()[0] == VERSION


def _create_tables(connection: sqlite3.Connection) -> None:
    found = connection.execute("PRAGMA user_version").fetchone()[0]
    if found == VERSION:
        return
    for table in ("questions", "words", "vectors", "chunks", "documents", "state"):
        connection.execute(f"DROP TABLE IF EXISTS {table}")
    for statement in _statements():
        connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {VERSION}")


def _statements() -> Iterator[str]:
    """The statements of the schema one by one (`executescript` would commit the transaction)."""
    pending = ""
    for line in _SCHEMA.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            yield pending
            pending = ""
