"""The writer and the reader of one SQLite file."""

import asyncio
import sqlite3
import threading
import time
import weakref
from contextlib import contextmanager

import pytest

from utils.errors import StorageError
from utils.persistence.database import _PRAGMAS, BUSY_SECONDS, Database, connect

SCHEMA = "CREATE TABLE IF NOT EXISTS words (word TEXT PRIMARY KEY)"


@pytest.fixture
async def database(tmp_path):
    database = Database(tmp_path / "deep" / "words.sqlite", SCHEMA)
    await database.open()
    yield database
    await database.close()


def add(word: str):
    return lambda db: db.execute("INSERT INTO words VALUES (?)", (word,)).rowcount


def words(db: sqlite3.Connection) -> list[str]:
    return [word for (word,) in db.execute("SELECT word FROM words ORDER BY rowid")]


async def test_a_read_sees_every_write_that_was_answered(database):
    for index in range(1000):
        last = database.submit(add(str(index)))
    await last
    assert await database.read(words) == [str(index) for index in range(1000)]


async def test_a_write_whose_caller_was_cancelled_is_done_and_a_read_takes_no_harm(database):
    held, free = threading.Event(), threading.Event()

    def hold(_: sqlite3.Connection) -> None:
        held.set()
        free.wait(60)

    database.submit(hold)
    assert held.wait(60)
    writing = asyncio.create_task(database.write(add("one")))
    reading = asyncio.create_task(database.read(words))
    await asyncio.sleep(0)
    writing.cancel()
    reading.cancel()
    free.set()
    assert [type(each) for each in await asyncio.gather(writing, reading, return_exceptions=True)] == [
        asyncio.CancelledError,
        asyncio.CancelledError,
    ]
    await database.write(add("two"))
    assert await database.read(words) == ["one", "two"]


async def test_nothing_of_a_write_is_held_until_the_next_one_comes(database):
    class Row:
        word = "one"

    row = Row()
    held = weakref.ref(row)

    def put(db: sqlite3.Connection, row: Row = row) -> None:
        db.execute("INSERT INTO words VALUES (?)", (row.word,))

    await database.write(put)
    del row, put
    async with asyncio.timeout(60):  # the writer's thread has yet to come back from what it told
        while held() is not None:
            await asyncio.sleep(0)


async def test_a_write_that_fails_takes_no_other_with_it(database):
    held, free = threading.Event(), threading.Event()

    def hold(_: sqlite3.Connection) -> None:
        held.set()
        free.wait(60)

    database.submit(hold)
    assert held.wait(60)
    good, bad, later = (database.submit(add(word)) for word in ("one", "one", "two"))
    free.set()
    await later
    assert await database.read(words) == ["one", "two"]
    assert (good.result(), later.result()) == (1, 1)
    assert isinstance(bad.exception(), sqlite3.IntegrityError)


@contextmanager
def locked(path):
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    yield
    other.execute("ROLLBACK")
    other.close()


@pytest.mark.long
async def test_writes_behind_a_lock_wait_side_by_side_and_a_read_not_at_all(tmp_path):
    database = Database(tmp_path / "words.sqlite", SCHEMA)
    await database.open()
    with locked(tmp_path / "words.sqlite"):
        began = time.monotonic()
        first = database.submit(add("first"))
        later = [database.submit(add(str(index))) for index in range(600)]
        assert await database.read(words) == []
        assert not first.done()
        for write in (first, *later):
            with pytest.raises(sqlite3.OperationalError):
                await write
        assert time.monotonic() - began < 2 * BUSY_SECONDS
    assert database.failing
    await database.write(add("after"))
    assert not database.failing
    await database.close()


async def test_a_failure_of_sqlite_is_a_storage_error_without_its_text(database):
    with pytest.raises(StorageError) as failed:
        await database.write(lambda db: db.execute("INSERT INTO nothing VALUES (1)"))
    assert "nothing" not in str(failed.value)
    with pytest.raises(StorageError):
        await database.read(lambda db: db.execute("SELECT * FROM nothing"))


async def test_writes_do_not_run_on_the_event_loops_thread(database):
    assert await database.write(lambda _: threading.get_ident()) != threading.get_ident()
    assert await database.read(lambda _: threading.get_ident()) != threading.get_ident()


async def test_a_closed_database_says_so(tmp_path):
    database = Database(tmp_path / "words.sqlite", SCHEMA)
    await database.open()
    await database.close()
    await database.close()
    with pytest.raises(StorageError):
        database.submit(add("late"))
    with pytest.raises(StorageError):
        await database.read(words)


def writers() -> int:
    return sum(thread.name == "sqlite-write" for thread in threading.enumerate())


async def test_a_database_that_is_opened_and_closed_twice_at_once_has_one_writer_and_then_none(tmp_path):
    database, before = Database(tmp_path / "words.sqlite", SCHEMA), writers()
    await asyncio.gather(database.open(), database.open())
    assert writers() == before + 1
    await database.write(add("one"))
    await asyncio.gather(database.close(), database.close())
    assert writers() == before


def test_a_file_that_is_no_database_is_a_storage_error(tmp_path):
    path = tmp_path / "not.sqlite"
    path.write_bytes(b"this is not a database at all" * 100)
    with pytest.raises(StorageError):
        connect(path)


def test_a_connection_writes_ahead_and_waits_for_locks(tmp_path):
    connection = connect(tmp_path / "x.sqlite")
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert connection.execute("PRAGMA busy_timeout").fetchone() == (5000,)
    connection.close()


async def test_a_write_that_comes_while_the_file_is_closed_is_refused_and_one_before_is_done(tmp_path):
    database = Database(tmp_path / "words.sqlite", SCHEMA)
    await database.open()
    held, free = threading.Event(), threading.Event()

    def hold(_: sqlite3.Connection) -> None:
        held.set()
        free.wait(60)

    database.submit(hold)
    assert held.wait(60)
    before = database.submit(add("before"))
    closing = asyncio.create_task(database.close())
    await asyncio.sleep(0)  # `close` has asked the writer to end, and waits for it
    with pytest.raises(StorageError):
        database.submit(add("late"))
    free.set()
    await closing
    assert before.result() == 1


async def test_a_file_that_may_only_be_read_is_refused_by_its_name_when_it_is_opened(tmp_path, monkeypatch):
    """`query_only` stands in for the rights of the file, which bind no administrator."""
    monkeypatch.setattr("utils.persistence.database._PRAGMAS", (*_PRAGMAS, "query_only=ON"))
    (tmp_path / "words.sqlite").touch()
    with pytest.raises(StorageError, match=r"words\.sqlite in PLATFORM_ENGINEER_HOME cannot be opened"):
        await Database(tmp_path / "words.sqlite", lambda _: None).open()
