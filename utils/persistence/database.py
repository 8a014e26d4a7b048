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
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from utils.errors import StorageError

Result = TypeVar("Result")
Work = Callable[[sqlite3.Connection], Result]

GROUP = 256
"""Writes committed together at most; bounds how long the first one waits."""

_PRAGMAS = (
    "journal_mode=WAL",  # readers never wait for the writer
    "synchronous=NORMAL",  # no fsync per commit; WAL stays consistent over a crash
    "busy_timeout=5000",  # milliseconds
    "foreign_keys=ON",
    "temp_store=MEMORY",
)


def connect(path: Path) -> sqlite3.Connection:
    """Open a SQLite file with the settings that every database of ours has.

    Transactions are explicit (`BEGIN`). The folder is created when missing.

    Raises:
        StorageError: The file cannot be opened or is no database.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        for pragma in _PRAGMAS:
            connection.execute(f"PRAGMA {pragma}")
    except (sqlite3.Error, OSError) as error:
        raise StorageError("The database cannot be opened.") from error
    return connection


class Database:
    """Reads and writes of one file, off the event loop."""

    def __init__(self, path: Path, schema: str) -> None:
        self._path = path
        self._schema = schema
        self._jobs: queue.SimpleQueue[tuple[Work[Any], Future[Any]] | None] = queue.SimpleQueue()
        self._handed = 0  # counted by the event loop's thread
        self._done = 0  # counted by the writer's thread
        self._thread: threading.Thread | None = None
        self._readers: ThreadPoolExecutor | None = None
        self._reader: sqlite3.Connection | None = None

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

    def _prepare(self) -> sqlite3.Connection:
        connection = connect(self._path)
        try:
            connection.executescript(self._schema)
        except sqlite3.Error as error:
            connection.close()
            raise StorageError("The database cannot be prepared.") from error
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
        self._handed += 1
        self._jobs.put((work, future))
        return future

    async def write(self, work: Work[Result]) -> Result:
        """Run a write and wait until it is committed.

        Raises:
            StorageError: SQLite refused it. An exception of `work` itself is raised as it is.
        """
        return await _outcome(asyncio.wrap_future(self.submit(work)))

    async def read(self, work: Work[Result]) -> Result:
        """Run a read that sees every write handed over before it.

        Raises:
            StorageError: SQLite refused it.
        """
        if self._readers is None or self._reader is None or self._thread is None:
            raise StorageError("The database is closed.")
        if self._handed != self._done:
            await self.write(_nothing)
        loop = asyncio.get_running_loop()
        return await _outcome(loop.run_in_executor(self._readers, work, self._reader))

    def _write_loop(self, connection: sqlite3.Connection) -> None:
        closing = False
        while not closing:
            group = [self._jobs.get()]
            while len(group) < GROUP and not self._jobs.empty():
                group.append(self._jobs.get())
            closing = None in group
            _commit(connection, [job for job in group if job is not None])
            self._done += sum(job is not None for job in group)
        connection.close()


def _commit(connection: sqlite3.Connection, jobs: list[tuple[Work[Any], Future[Any]]]) -> None:
    """Commit `jobs` together; when one fails, each for itself, so that it takes no other with it."""
    try:
        results = _transaction(connection, [work for work, _ in jobs])
    except Exception as error:  # noqa: BLE001 - a background task: handed to whoever waits for the write
        if len(jobs) == 1:
            jobs[0][1].set_exception(error)
            return
        for job in jobs:
            _commit(connection, [job])
        return
    for (_, future), result in zip(jobs, results, strict=True):
        future.set_result(result)


def _transaction(connection: sqlite3.Connection, works: list[Work[Any]]) -> list[Any]:
    if not works:
        return []
    connection.execute("BEGIN IMMEDIATE")
    try:
        results = [work(connection) for work in works]
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    return results


def _nothing(_: sqlite3.Connection) -> None:
    """A write that only waits for those before it."""


async def _outcome(future: asyncio.Future[Result]) -> Result:
    try:
        return await asyncio.shield(future)
    except sqlite3.Error as error:
        raise StorageError("The database failed. Try again.") from error
