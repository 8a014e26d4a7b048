"""A database that another program holds, or a full disk, is told as what it is, with the way out."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from utils.errors import StorageError, StorageFull
from utils.persistence import database
from utils.persistence.database import Database, connect
from utils.persistence.database_failures import StorageGone, StorageHeld, failed, unopened

SCHEMA = "CREATE TABLE IF NOT EXISTS words (word TEXT)"


@contextmanager
def held(path: Path, how: str) -> Iterator[None]:
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute(f"BEGIN {how}")
        yield
        other.execute("ROLLBACK")


def add(db: sqlite3.Connection) -> None:
    db.execute("INSERT INTO words VALUES ('a')")


async def test_a_write_while_another_program_holds_the_file_is_told_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "BUSY_SECONDS", 0.05)
    path = tmp_path / "agent" / "words.sqlite"
    words = Database(path, SCHEMA)
    await words.open()
    with held(path, "IMMEDIATE"), pytest.raises(StorageHeld) as refused:
        await words.write(add)
    assert refused.value.message == (
        "Another program holds a file of this agent, so nothing can be stored. End it, such as a copy or a backup that "
        "runs, and try again."
    )
    assert refused.value.retryable
    await words.write(add)
    await words.close()


def gone(path: Path) -> None:
    path.unlink()


def replaced(path: Path) -> None:
    path.rename(path.with_suffix(".old"))
    with closing(sqlite3.connect(path)) as other:
        other.execute(SCHEMA)


def moved_with_its_folder(path: Path) -> None:
    path.parent.rename(path.parent.with_suffix(".old"))


@pytest.mark.parametrize("lose", [gone, replaced, moved_with_its_folder])
async def test_a_write_to_a_file_that_is_no_longer_at_its_place_is_refused(
    tmp_path: Path, lose: Callable[[Path], None]
) -> None:
    path = tmp_path / "agent" / "words.sqlite"
    words = Database(path, SCHEMA)
    await words.open()
    await words.write(add)
    lose(path)
    with pytest.raises(StorageGone) as refused:
        await words.write(add)
    assert refused.value.message.startswith("The data of this agent was deleted or moved while it runs")
    assert words.failing
    assert await words.read(lambda db: db.execute("SELECT word FROM words").fetchall()) == [("a",)]
    await words.close()


async def test_a_folder_that_is_back_at_its_place_is_written_again(tmp_path: Path) -> None:
    folder, away = tmp_path / "agent", tmp_path / "away"
    words = Database(folder / "words.sqlite", SCHEMA)
    await words.open()
    folder.rename(away)
    with pytest.raises(StorageGone):
        await words.write(add)
    away.rename(folder)
    await words.write(add)
    assert not words.failing
    await words.close()


def test_a_start_while_another_program_holds_the_file_names_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "agent" / "words.sqlite"
    path.parent.mkdir()
    monkeypatch.setattr(database, "_PRAGMAS", ("busy_timeout=1", "journal_mode=WAL"))
    with closing(sqlite3.connect(path)) as made:
        made.execute(SCHEMA)
    with held(path, "EXCLUSIVE"), pytest.raises(StorageHeld) as refused:
        connect(path)
    assert refused.value.for_operator == (
        "The file agent/words.sqlite in PLATFORM_ENGINEER_HOME is held by another program, such as a copy or a backup that "
        "runs. End it and start again."
    )


def full(db: sqlite3.Connection) -> sqlite3.Error:
    """What SQLite raises where no page is left."""
    db.execute("CREATE TABLE room (bytes BLOB)")
    (pages,) = db.execute("PRAGMA page_count").fetchone()
    db.execute(f"PRAGMA max_page_count={pages}")
    with pytest.raises(sqlite3.OperationalError) as error:
        db.execute("INSERT INTO room VALUES (zeroblob(100000))")
    return error.value


def test_a_full_disk_is_told_at_the_start_as_well_as_later(tmp_path: Path) -> None:
    path = tmp_path / "agent" / "words.sqlite"
    with closing(connect(path)) as db:
        error = full(db)
    assert isinstance(failed(path, error), StorageFull)
    opened = unopened(path, error)
    assert isinstance(opened, StorageFull)
    assert opened.for_operator == (
        "The disk is full: the file agent/words.sqlite in PLATFORM_ENGINEER_HOME cannot be opened. Free some space and "
        "start again."
    )


def test_any_other_failure_stays_one_of_the_database(tmp_path: Path) -> None:
    path = tmp_path / "words.sqlite"
    assert type(failed(path, sqlite3.OperationalError("no such table"))) is StorageError
