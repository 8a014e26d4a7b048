"""One SQLite file behind the event loop: a thread that writes in groups, a thread that reads.

Writes are handed over and committed together with whatever else waits, so a stream of small
appends costs one commit per group and not one each. `benchmarks/wire.py` measures it against the
SDK's own store.
"""

from __future__ import annotations

import asyncio
import queue
import sqlite3
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from utils.errors import StorageError
from utils.observability import catalogue
from utils.observability.metrics import count

Result = TypeVar("Result")
Work = Callable[[sqlite3.Connection], Result]

GROUP = 256
"""Writes committed together at most; bounds how long the first one waits."""

BUSY_SECONDS = 5.0
"""How long a write waits for another process that writes the file, counted from when it was handed over."""

PROBE_BYTES = 16_384
"""What a probe writes: more than the rows and chunks of a short turn, four pages of the file."""

_PRAGMAS = (
    f"busy_timeout={BUSY_SECONDS * 1000:.0f}",
    "journal_mode=WAL",  # readers never wait for the writer
    "synchronous=NORMAL",  # no fsync per commit; WAL stays consistent over a crash
    "foreign_keys=ON",
    "temp_store=MEMORY",
)


def connect(path: Path) -> sqlite3.Connection:
    """Open a SQLite file with the settings that every database of ours has.

    Transactions are explicit (`BEGIN`). The folder is created when missing.

    Raises:
        StorageError: The file cannot be opened or is no database; names it.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        for pragma in _PRAGMAS:
            connection.execute(f"PRAGMA {pragma}")
    except (sqlite3.Error, OSError) as error:
        raise unopened(path, error) from error
    return connection


def unopened(path: Path, error: Exception) -> StorageError:
    """What an operator is told of a database that cannot be opened, without the place of the home."""
    name = f"{path.parent.name}/{path.name}"
    if getattr(error, "sqlite_errorcode", None) in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT):
        return StorageError(
            f"The file {name} in PLATFORM_ENGINEER_HOME is damaged. Put back a copy of it, or move it away to start "
            "without what it holds."
        )
    return StorageError(
        f"The file {name} in PLATFORM_ENGINEER_HOME cannot be opened. See that this user may write it, that the disk "
        "has room, and that no other process holds it."
    )


class _Job(NamedTuple):
    """A write that was handed over: what to do, who waits for it, and since when (monotonic seconds)."""

    work: Work[Any]
    future: Future[Any]
    since: float


class _NotBegun(Exception):
    """No transaction could be begun, which is no write's own fault."""


class Database:
    """Reads and writes of one file, off the event loop.

    Attributes:
        failing: Whether SQLite could not carry out the last write.
        written_at: When the last write ended, well or not, in monotonic seconds; 0 before the first.
    """

    def __init__(self, path: Path, schema: str) -> None:
        self._path = path
        self._schema = schema
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._readers: ThreadPoolExecutor | None = None
        self._reader: sqlite3.Connection | None = None
        self.failing = False
        self.written_at = 0.0

    async def open(self) -> None:
        """Create the tables and start the threads.

        Raises:
            StorageError: The file cannot be opened.
        """
        if self._thread is not None:
            return
        writer = await asyncio.to_thread(self._prepare)
        self._reader = await asyncio.to_thread(connect, self._path)
        self._readers = ThreadPoolExecutor(1, thread_name_prefix="sqlite-read")
        self._thread = threading.Thread(
            target=self._write_loop, args=(writer,), name="sqlite-write", daemon=True
        )
        self._thread.start()
        self._count_error(0)

    def _prepare(self) -> sqlite3.Connection:
        connection = connect(self._path)
        try:
            connection.executescript(self._schema)
        except sqlite3.Error as error:
            connection.close()
            raise unopened(self._path, error) from error
        return connection

    async def close(self) -> None:
        """Finish what waits and close the file. Safe to call twice."""
        if self._thread is None or self._readers is None or self._reader is None:
            return
        self._jobs.put(None)
        await asyncio.to_thread(self._thread.join)
        self._readers.shutdown(wait=True)
        self._reader.close()
        self._thread = None

    def submit(self, work: Work[Result]) -> Future[Result]:
        """Hand over a write without waiting; writes run in the order they are handed over."""
        if self._thread is None:
            raise StorageError("The database is closed.")
        future: Future[Result] = Future()
        self._jobs.put(_Job(work, future, time.monotonic()))
        return future

    async def write(self, work: Work[Result]) -> Result:
        """Run a write and wait until it is committed.

        Raises:
            StorageError: SQLite refused it. An exception of `work` itself is raised as it is.
        """
        return await _outcome(asyncio.wrap_future(self.submit(work)))

    async def read(self, work: Work[Result]) -> Result:
        """Run a read, which sees every write that has been answered and waits for no other.

        Raises:
            StorageError: SQLite refused it.
        """
        if self._readers is None or self._reader is None or self._thread is None:
            raise StorageError("The database is closed.")
        loop = asyncio.get_running_loop()
        try:
            return await _outcome(loop.run_in_executor(self._readers, work, self._reader))
        except StorageError:
            self._count_error()
            raise

    async def probe(self) -> None:
        """Take room in the file and give it back, so that `failing` tells of now.

        Raises:
            StorageError: SQLite refused it.
        """
        await self.write(_take_room)
        await self.write(_give_room_back)

    def _write_loop(self, connection: sqlite3.Connection) -> None:
        closing = False
        while not closing:
            group = [self._jobs.get()]
            while len(group) < GROUP and not self._jobs.empty():
                group.append(self._jobs.get())
            closing = None in group
            self._commit(connection, [job for job in group if job is not None])
        connection.close()

    def _commit(self, connection: sqlite3.Connection, jobs: list[_Job]) -> None:
        """Commit `jobs` together; when one fails, each for itself, so that it takes no other with it.

        Where no transaction can be begun, all have failed: none would fare better alone, and each would wait anew.
        """
        if not jobs:
            return
        try:
            results = _transaction(connection, [job.work for job in jobs], _patience(jobs))
        except _NotBegun as error:
            self._fail(jobs, error.__cause__ or error)
        except Exception as error:  # noqa: BLE001 - a background task: handed to whoever waits for the write
            if len(jobs) == 1:
                self._fail(jobs, error)
                return
            for job in jobs:
                self._commit(connection, [job])
        else:
            self.failing, self.written_at = False, time.monotonic()
            for job, result in zip(jobs, results, strict=True):
                job.future.set_result(result)

    def _fail(self, jobs: list[_Job], error: BaseException) -> None:
        if _is_fault(error):
            self.failing, self.written_at = True, time.monotonic()
            self._count_error()
        for job in jobs:
            job.future.set_exception(error)

    def _count_error(self, amount: int = 1) -> None:
        count(catalogue.STORAGE_ERRORS, amount, file=self._path.stem)


def _patience(jobs: list[_Job]) -> int:
    """Milliseconds that the writes may still wait for another process: none of them waits twice."""
    waited = time.monotonic() - jobs[-1].since
    return max(0, round((BUSY_SECONDS - waited) * 1000))


def _is_fault(error: BaseException) -> bool:
    """Whether the storage failed, and not the statement or its values."""
    wrong = (sqlite3.IntegrityError, sqlite3.ProgrammingError, sqlite3.DataError, sqlite3.NotSupportedError)
    return isinstance(error, sqlite3.DatabaseError) and not isinstance(error, wrong)


def _transaction(connection: sqlite3.Connection, works: list[Work[Any]], patience: int) -> list[Any]:
    try:
        connection.execute(f"PRAGMA busy_timeout={patience}")
        connection.execute("BEGIN IMMEDIATE")
    except sqlite3.Error as error:
        raise _NotBegun from error
    try:
        results = [work(connection) for work in works]
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    return results


def _take_room(connection: sqlite3.Connection) -> None:
    connection.execute("CREATE TABLE IF NOT EXISTS write_probe (id INTEGER PRIMARY KEY, room BLOB)")
    connection.execute("INSERT OR REPLACE INTO write_probe VALUES (1, zeroblob(?))", (PROBE_BYTES,))


def _give_room_back(connection: sqlite3.Connection) -> None:
    connection.execute("DELETE FROM write_probe")


async def _outcome(future: asyncio.Future[Result]) -> Result:
    try:
        return await asyncio.shield(future)
    except sqlite3.Error as error:
        raise StorageError("The database failed. Try again.") from error
