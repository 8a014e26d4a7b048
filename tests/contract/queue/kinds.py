"""The queue over PostgreSQL, and over the tables in memory that schedules use: two replicas of each."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from procrastinate.exceptions import ConnectorException

from benchmarks.simulate.advisory_locks import AdvisoryLocks
from benchmarks.simulate.faults import CALM, Faults
from benchmarks.simulate.faulty_store import Link
from benchmarks.simulate.notices import Notices
from benchmarks.simulate.process import Process
from benchmarks.simulate.queue_link import MemoryQueueTables
from benchmarks.simulate.queue_table import QueueTable
from benchmarks.simulate.trace import Trace
from tests.postgres import AGENT, PostgresServer
from utils.a2a_common.engine.postgres_queue_tables import PostgresQueueTables
from utils.a2a_common.engine.procrastinate_queue import ProcrastinateQueue
from utils.a2a_common.engine.queue_tables import QueueTables
from utils.a2a_common.engine.turn_queue import QueuedTurn, Requeued
from utils.errors import StorageError
from utils.persistence.postgres.pool import PostgresPool

TablesOf = Callable[[], QueueTables]
"""Makes the tables as a further replica reaches them."""


@asynccontextmanager
async def memory_tables() -> AsyncIterator[TablesOf]:
    """Tables in memory, where nothing fails."""
    clock = asyncio.get_running_loop().time
    lots = random.Random(1)
    faults = Faults(CALM, lots, clock, Trace(clock), on=False)
    notices = Notices(lots, bool, 0.0)
    table, locks = QueueTable(clock, notices, bool), AdvisoryLocks(clock)

    def tables() -> QueueTables:
        process = Process("p")
        links = Link(process, faults, StorageError, pooled=True), Link(process, faults, ConnectorException)
        return MemoryQueueTables(table, locks, notices, links)

    yield tables


@asynccontextmanager
async def postgres_tables(server: PostgresServer) -> AsyncIterator[TablesOf]:
    """Tables in a new database; each replica has its own connections."""
    settings = server.settings(await server.migrated())
    async with AsyncExitStack() as stack:
        pools = [PostgresPool(settings, agent=AGENT) for _ in range(2)]
        for pool in pools:
            await pool.open()
            stack.push_async_callback(pool.close)
        yield lambda: PostgresQueueTables(pools.pop())


@dataclass
class Replica:
    """A worker on the queue that notes what it runs, and runs it until it is told to go on.

    Attributes:
        ran: What it began, in order.
        puts_back: Tasks whose next run puts itself back at once.
        canceled: The tasks whose run was cancelled, and whether their end was asked for.
        go_on: Lets its runs end.
    """

    queue: ProcrastinateQueue
    ran: list[QueuedTurn] = field(default_factory=list)
    puts_back: set[str] = field(default_factory=set)
    canceled: list[tuple[str, bool]] = field(default_factory=list)
    go_on: asyncio.Event = field(default_factory=asyncio.Event)

    async def work(self, turn: QueuedTurn) -> None:
        """Run a turn. One that is cancelled because the worker ends goes on elsewhere."""
        self.ran.append(turn)
        if turn.task_id in self.puts_back:
            self.puts_back.remove(turn.task_id)
            raise Requeued
        try:
            await self.go_on.wait()
        except asyncio.CancelledError:
            self.canceled.append((turn.task_id, turn.canceled()))
            if turn.canceled():
                raise
            raise Requeued from None

    @property
    def begun(self) -> list[str]:
        """The tasks that it began."""
        return [turn.task_id for turn in self.ran]

    async def add(self, task_id: str, conversation: str, *, goes_on: bool = False) -> None:
        """Add a turn."""
        async with self.queue.slot(task_id, conversation) as slot:
            await slot.take(goes_on)


@asynccontextmanager
async def replica(tables: TablesOf, *, fair: bool = False, **options: Any) -> AsyncIterator[Replica]:
    """A replica whose worker is at work; closed with the block. It counts as dead when it was silent for longer than a machine stalls."""
    settings: dict[str, Any] = {"at_once": 2, "takeover_seconds": 60.0, "grace": 0.2, **options}
    made = Replica(ProcrastinateQueue(tables(), **settings))
    await made.queue.open(made.work, fair=fair)
    try:
        yield made
    finally:
        await made.queue.close()


async def until(true: Callable[[], object]) -> None:
    """Wait until something is true."""
    async with asyncio.timeout(30):
        while not true():
            await asyncio.sleep(0.01)
