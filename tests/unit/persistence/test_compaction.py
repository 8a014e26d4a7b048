"""What is left of a deleted text in a file of SQLite."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from utils.persistence.compaction import compact
from utils.persistence.database import Database

SCHEMA = "CREATE TABLE said (id INTEGER PRIMARY KEY, words TEXT NOT NULL)"
SECRET = "the-code-is-4711-" * 40


def _add(connection: sqlite3.Connection) -> None:
    rows = [(number, SECRET if number == 3 else "something else") for number in range(400)]
    connection.executemany("INSERT INTO said VALUES (?, ?)", rows)


def _delete(connection: sqlite3.Connection) -> None:
    connection.execute("DELETE FROM said WHERE id = 3")


@pytest.mark.parametrize("largest", [0, 2**30])
async def test_a_deleted_text_is_in_no_file_whether_the_file_is_rewritten_or_too_large_for_it(
    tmp_path: Path, largest: int
) -> None:
    database = Database(tmp_path / "said.sqlite", SCHEMA)
    await database.open()
    await database.write(_add)
    await compact(tmp_path / "said.sqlite")
    assert _holds(tmp_path, "4711")
    await database.write(_delete)
    await compact(tmp_path / "said.sqlite", largest=largest)
    assert not _holds(tmp_path, "4711")
    assert _holds(tmp_path, "something else")
    await database.close()


def _holds(folder: Path, words: str) -> bool:
    return any(words.encode() in path.read_bytes() for path in folder.iterdir())
