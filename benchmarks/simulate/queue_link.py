"""The way from one process to the tables of the queue: Procrastinate's connector, and transactions with locks."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import aclosing, asynccontextmanager
from dataclasses import astuple
from functools import partial
from typing import Any

from procrastinate import exceptions, sql
from procrastinate.connector import BaseAsyncConnector, Notify

from benchmarks.simulate.advisory_locks import AdvisoryLocks
from benchmarks.simulate.faulty_store import Link
from benchmarks.simulate.notices import Notices
from benchmarks.simulate.queue_table import JobRow, QueueTable, Rows
from utils.a2a_common.engine.queue_tables import Counts
from utils.a2a_common.engine.resilient_jobs import COUNTS, OF_LOCK, OF_TASK, TAKE, TASKS, WAITING, WAKE
from utils.errors import StorageError

_NAMES = {
    **{query: name for name, query in sql.queries.items()},
    WAKE: "notify",
    COUNTS: "counts",
    TAKE: "take_job",
    WAITING: "waiting",
    TASKS: "tasks",
    OF_TASK: "of_task",
    OF_LOCK: "of_lock",
}


class MemoryConnector(BaseAsyncConnector):
    """Runs Procrastinate's queries on the tables in memory."""

    def __init__(self, table: QueueTable, notices: Notices, link: Link) -> None:
        self._table = table
        self._notices = notices
        self._link = link
        self._open = False

    async def open_async(self, pool: Any = None) -> None:
        """Connect."""
        del pool
        await self._link.call("open", _nothing)
        self._open = True

    async def close_async(self) -> None:
        """Disconnect."""
        self._open = False

    async def execute_query_async(self, query: str, **arguments: Any) -> None:
        """Run a query."""
        await self._rows(query, arguments)

    async def execute_query_one_async(self, query: str, **arguments: Any) -> dict[str, Any]:
        """Run a query; its first row."""
        rows = await self._rows(query, arguments)
        return rows[0]

    async def execute_query_all_async(self, query: str, **arguments: Any) -> Rows:
        """Run a query; its rows."""
        return await self._rows(query, arguments)

    async def execute_query_all_async_with_connection(
        self, connection: Any, query: str, **arguments: Any
    ) -> Rows:
        """Add jobs within a transaction."""
        assert _NAMES[query] == "defer_jobs"
        assert isinstance(connection, MemoryTransaction)
        rows: Rows = await connection.add(arguments["jobs"])
        return rows

    async def _rows(self, query: str, arguments: dict[str, Any]) -> Rows:
        if not self._open:
            raise exceptions.ConnectorException("the connections are closed")
        work = self._statement(query, arguments)

        async def done() -> Rows:
            return work()

        rows: Rows = await self._link.call(_NAMES[query], done)
        return rows

    def _statement(self, query: str, arguments: dict[str, Any]) -> Callable[[], Rows]:
        name = _NAMES[query]
        if name == "register_worker":
            return partial(self._table.register_worker, self._link.process.name)
        ours: dict[str, Callable[..., Rows]] = {
            "notify": self._wake,
            "counts": self._counts,
            "fetch_job": partial(self._fetched, self._table.fetch_job),
            "take_job": partial(self._fetched, self._table.take_job),
        }
        statement: Callable[..., Rows] = ours.get(name) or getattr(self._table, name)
        return partial(statement, **arguments)

    def _wake(self, channel: str, payload: str) -> Rows:
        self._notices.tell(channel, payload)
        return []

    def _counts(self, task: str, queue: str, alive: float) -> Rows:
        found = self._table.counts(queue, task, alive)
        of = [list(astuple(each)) for each in found.loads]
        return [{"workers": found.workers, "task_busy": found.task_busy, "loads": of}]

    def _fetched(self, fetch: Callable[..., Rows], **arguments: Any) -> Rows:
        rows = fetch(**arguments)
        for row in rows:
            if row["id"] is not None:
                self._table.note_fetched(row["id"], self._link.process.name)
        return rows

    async def listen_notify(self, on_notification: Notify, channels: Iterable[str]) -> None:
        """Hear of new jobs, for ever."""
        (channel,) = (each for each in channels if "#" in each)
        await self._link.call("open", _nothing)
        async with aclosing(self._notices.listen(self._link.process, channel)) as notices:
            async for payload in notices:
                if payload:
                    await on_notification(channel=channel, payload=payload)


class MemoryTransaction:
    """A transaction: what it adds is there once it is committed, and its locks end with it.

    Attributes:
        process: Who began it.
        ended: Whether it is over.
    """

    def __init__(self, table: QueueTable, locks: AdvisoryLocks, link: Link) -> None:
        self._table = table
        self._locks = locks
        self._link = link
        self._added: list[JobRow] = []
        self.process = link.process
        self.ended = False

    @property
    def connection(self) -> MemoryTransaction:
        """What the connector adds jobs with."""
        return self

    async def lock(self, number: int, *, shared: bool = False) -> None:
        """Wait for a lock."""
        await self._ask("lock", partial(self._locks.wait, self, number, shared=shared))

    async def try_lock(self, number: int) -> bool:
        """Take a lock where nobody has it."""

        async def done() -> bool:
            return self._locks.take(self, number, shared=False)

        took: bool = await self._ask("lock", done)
        return took

    async def counts(self, queue: str, task_id: str, alive: float) -> Counts:
        """The unfinished jobs of a queue."""

        async def done() -> Counts:
            return self._table.counts(queue, task_id, alive)

        found: Counts = await self._ask("counts", done)
        return found

    async def add(self, jobs: list[Any]) -> Rows:
        """Add jobs with the commit."""

        async def done() -> Rows:
            rows = [self._table.row_of(job) for job in jobs]
            for row in rows:
                self._table.check_unique(row)
            self._added += rows
            return [dict(row) for row in rows]

        rows: Rows = await self._ask("defer_jobs", done)
        return rows

    async def commit(self) -> None:
        """Make what was added seen by others."""

        async def done() -> None:
            self._table.insert(self._added)
            self.ended = True

        await self._ask("commit", done)

    async def _ask(self, name: str, work: Callable[[], Any]) -> Any:
        async def done() -> Any:
            if self._locks.cut_off(self):
                raise StorageError("the transaction was cut off: its process stood still for too long")
            return await work()

        return await self._link.call(name, done)


class MemoryQueueTables:
    """The tables as one process reaches them.

    Attributes:
        schema: Name of the agent's schema.
    """

    schema = "agent_simulated"

    def __init__(
        self,
        table: QueueTable,
        locks: AdvisoryLocks,
        notices: Notices,
        links: tuple[Link, Link],
    ) -> None:
        self._table = table
        self._locks = locks
        self._notices = notices
        self._ours, self._library = links

    def connector(self) -> MemoryConnector:
        """A connector of this process."""
        return MemoryConnector(self._table, self._notices, self._library)

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[MemoryTransaction]:
        """A transaction."""
        await self._ours.call("open", _nothing)
        transaction = MemoryTransaction(self._table, self._locks, self._ours)
        try:
            yield transaction
            await transaction.commit()
        finally:
            transaction.ended = True
            self._locks.release(transaction)

    @asynccontextmanager
    async def held_if_free(self, number: int) -> AsyncIterator[bool]:
        """Hold a lock outside a transaction."""
        holder = MemoryTransaction(self._table, self._locks, self._ours)
        try:
            yield await holder.try_lock(number)
        finally:
            holder.ended = True
            self._locks.release(holder)


async def _nothing() -> None:
    """A statement that changes nothing."""
