"""Asynchronous access to one SQLite file: one thread commits writes in groups, one thread reads.

Queued writes are committed together, so a stream of small appends costs one commit per group and not one each.
`benchmarks/wire.py` measures it against the SDK's own store.
"""

from __future__ import annotations

import asyncio
import queue
import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, NamedTuple, TypeVar

import structlog

from utils.errors import StorageError
from utils.observability import catalogue
from utils.observability.metrics import count
from utils.persistence.database_failures import failed, gone, unopened
from utils.persistence.sqlite_file import FileId, MemoryFile, SqliteFile, file_id

log = structlog.get_logger(__name__)

Result = TypeVar("Result")
Work = Callable[[sqlite3.Connection], Result]

GROUP = 256
"""Largest number of writes in one commit; limits how long the first one waits."""

BUSY_SECONDS = 5.0
"""Timeout of a write while another process writes the file, counted from when it was queued."""

PROBE_BYTES = 16_384
"""Bytes that a probe writes: four pages of the file, more than a short turn needs."""

LOG_BYTES = 4 * 1024**2
"""Size to which a write-ahead log is truncated after a large write, once it restarts from its beginning. SQLite copies the log into
the file from about this size on."""

_PRAGMAS = (
    f"busy_timeout={BUSY_SECONDS * 1000:.0f}",
    "journal_mode=WAL",  # readers never wait for the writer
    "synchronous=NORMAL",  # no fsync per commit; WAL stays consistent over a crash
    f"journal_size_limit={LOG_BYTES}",
    "foreign_keys=ON",
    "secure_delete=ON",  # what is deleted is overwritten
    "temp_store=MEMORY",
)


def connect(path: SqliteFile) -> sqlite3.Connection:
    """Open a SQLite file with the settings of all databases of this service.

    Transactions are explicit (`BEGIN`). The folder is created when missing.

    Raises:
        StorageError: The file cannot be opened or is not a database; the message names it.
    """
    try:
        connection = _opened(path)
        for pragma in _PRAGMAS:
            connection.execute(f"PRAGMA {pragma}")
    except (sqlite3.Error, OSError) as error:
        raise unopened(path, error) from error
    return connection


def _opened(path: SqliteFile) -> sqlite3.Connection:
    if isinstance(path, MemoryFile):
        return sqlite3.connect(path.uri, uri=True, isolation_level=None, check_same_thread=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    return sqlite3.connect(path, isolation_level=None, check_same_thread=False)


class _Job(NamedTuple):
    """A queued write: its work, the future of the loop that waits for it, and when it was queued (monotonic seconds)."""

    work: Work[Any]
    future: asyncio.Future[Any]
    since: float


class _NotBegun(Exception):
    """No transaction could be started, which is not the fault of any write."""


class Database:
    """Reads and writes one file outside the event loop.

    Args:
        path: The file; created when missing.
        schema: Creates its tables: a script, or a function that also brings those of an earlier version up to date.

    Attributes:
        failing: Whether SQLite failed at the last write.
        written_at: When the last write ended or failed, in monotonic seconds; 0 before the first.
    """

    def __init__(self, path: SqliteFile, schema: str | Work[None]) -> None:
        self._path = path
        self._schema = schema
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._gate = threading.Lock()
        self._opening = asyncio.Lock()
        self._closing = False
        self._readers: ThreadPoolExecutor | None = None
        self._reader: sqlite3.Connection | None = None
        self._file: FileId | None = None
        self.failing = False
        self.written_at = 0.0

    async def open(self) -> None:
        """Create the tables and start the threads. A second call, also at the same time, does nothing.

        Raises:
            StorageError: The file cannot be opened.
        """
        async with self._opening:
            if self._thread is not None:
                return
            writer, self._reader = await asyncio.to_thread(self._connect_both)
            self._file = file_id(self._path)
            self._readers = ThreadPoolExecutor(1, thread_name_prefix="sqlite-read")
            self._thread = threading.Thread(
                target=self._write_loop, args=(writer,), name="sqlite-write", daemon=True
            )
            self._thread.start()
            self._count_error(0)

    def _connect_both(self) -> tuple[sqlite3.Connection, sqlite3.Connection]:
        writer = self._prepare()
        try:
            return writer, connect(self._path)
        except BaseException:
            writer.close()
            raise

    def _prepare(self) -> sqlite3.Connection:
        connection = connect(self._path)
        try:
            if isinstance(self._schema, str):
                connection.executescript(self._schema)
            else:
                self._schema(connection)
            check_writable(connection)
        except sqlite3.Error as error:
            connection.close()
            raise unopened(self._path, error) from error
        except BaseException:
            connection.close()
            raise
        return connection

    async def close(self) -> None:
        """Finish queued writes and close the file. Safe to call twice, also at the same time."""
        async with self._opening:
            if self._thread is None or self._readers is None or self._reader is None:
                return
            with self._gate:
                self._closing = True
                self._jobs.put(None)
            await asyncio.to_thread(self._thread.join)
            self._readers.shutdown(wait=True)
            self._reader.close()
            self._thread = None

    def submit(self, work: Work[Result]) -> asyncio.Future[Result]:
        """Queue a write without waiting. All writes run in the order in which they are queued, even if their results are not awaited.

        Raises:
            StorageError: The database is closed.
        """
        future: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        with self._gate:  # nothing may be queued after the sentinel, since it would never be processed
            if self._thread is None or self._closing:
                raise StorageError("The database is closed.")
            self._jobs.put(_Job(work, future, time.monotonic()))
        return future

    async def write(self, work: Work[Result]) -> Result:
        """Run a write and wait until it is committed.

        Raises:
            StorageError: SQLite failed. An exception of `work` itself is raised unchanged.
        """
        return await self._outcome(self.submit(work))

    async def read(self, work: Work[Result]) -> Result:
        """Run a read, which sees every completed write and waits for no other.

        Raises:
            StorageError: SQLite failed.
        """
        if self._readers is None or self._reader is None or self._thread is None:
            raise StorageError("The database is closed.")
        future: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        self._readers.submit(self._answer, self._reader, work, future)
        try:
            return await self._outcome(future)
        except StorageError:
            self._count_error()
            raise

    def _answer(self, connection: sqlite3.Connection, work: Work[Any], future: asyncio.Future[Any]) -> None:
        try:
            result = work(connection)
        except BaseException as error:  # noqa: BLE001 - the caller that awaits the read gets the error
            _resolve_futures([(future, None, error)])
        else:
            _resolve_futures([(future, result, None)])

    async def probe(self) -> None:
        """Write and delete a few pages, so that `failing` is up to date.

        Raises:
            StorageError: SQLite failed.
        """
        await self.write(_take_room)
        await self.write(_give_room_back)

    async def _outcome(self, future: asyncio.Future[Result]) -> Result:
        try:
            return await future
        except sqlite3.Error as error:
            raise failed(self._path, error) from error

    def _write_loop(self, connection: sqlite3.Connection) -> None:
        while self._commit_next(connection):
            pass
        connection.close()

    def _commit_next(self, connection: sqlite3.Connection) -> bool:
        """Wait for writes and commit them; returns whether more may come. Keeps no reference to a group while waiting for the next."""
        group = [self._jobs.get()]
        while len(group) < GROUP and not self._jobs.empty():
            group.append(self._jobs.get())
        self._commit(connection, [job for job in group if job is not None])
        return None not in group

    def _commit(self, connection: sqlite3.Connection, jobs: list[_Job]) -> None:
        """Commit `jobs` together; when one fails, commit each alone, so that only that one fails.

        When no transaction can be started, all fail: each alone would only wait again. So do all when the file is gone from its
        path: SQLite would write on to a file that nobody can open any more.
        """
        if not jobs:
            return
        if self._file != file_id(self._path):
            self._fail(jobs, gone())
            return
        try:
            results = _transaction(connection, [job.work for job in jobs], _patience(jobs))
        except _NotBegun as error:
            self._fail(jobs, error.__cause__ or error)
        except Exception as error:  # noqa: BLE001 - a background task: the caller that awaits the write gets the error
            if len(jobs) == 1:
                self._fail(jobs, error)
                return
            for job in jobs:
                self._commit(connection, [job])
        else:
            self.failing, self.written_at = False, time.monotonic()
            _resolve_futures([(job.future, result, None) for job, result in zip(jobs, results, strict=True)])

    def _fail(self, jobs: list[_Job], error: BaseException) -> None:
        if _is_fault(error):
            self.failing, self.written_at = True, time.monotonic()
            self._count_error()
        _resolve_futures([(job.future, None, error) for job in jobs])

    def _count_error(self, amount: int = 1) -> None:
        count(catalogue.STORAGE_ERRORS, amount, file=self._path.stem)


_Outcome = tuple[asyncio.Future[Any], Any, BaseException | None]


def _resolve_futures(outcomes: Sequence[_Outcome]) -> None:
    """Resolve futures from another thread: each loop is woken once for all of its futures."""
    by_loop: dict[asyncio.AbstractEventLoop, list[_Outcome]] = {}
    for outcome in outcomes:
        by_loop.setdefault(outcome[0].get_loop(), []).append(outcome)
    for loop, its in by_loop.items():
        with suppress(RuntimeError):  # the loop was closed
            loop.call_soon_threadsafe(_settle, its)


def _settle(outcomes: Sequence[_Outcome]) -> None:
    for future, result, error in outcomes:
        if future.done():  # the caller was canceled
            continue
        if error is None:
            future.set_result(result)
        else:
            future.set_exception(error)


def check_writable(connection: sqlite3.Connection) -> None:
    """SQLite opens a file that it may only read; only a write shows it.

    Raises:
        sqlite3.OperationalError: The file may only be read.
    """
    try:
        connection.execute("PRAGMA busy_timeout=0")
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(f"PRAGMA user_version = {version}")
        connection.execute("ROLLBACK")
    except sqlite3.OperationalError as error:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        if error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_READONLY:
            raise  # any other, such as a lock, may be over when something is to be written


def _patience(jobs: list[_Job]) -> int:
    """Milliseconds left to wait for another process, so that no write waits longer than `BUSY_SECONDS` in all."""
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
