"""Schedules of several processes that serve the same agent at the same time: the engine of replicas, over one database."""

from __future__ import annotations

import asyncio
from functools import partial

from procrastinate.exceptions import ConnectorException

from benchmarks.simulate.advisory_locks import AdvisoryLocks
from benchmarks.simulate.faulty_store import Link, faulty
from benchmarks.simulate.notices import Notices
from benchmarks.simulate.process import Process
from benchmarks.simulate.queue_link import MemoryQueueTables
from benchmarks.simulate.queue_table import QueueTable
from benchmarks.simulate.service_world import CARD, Node, ServiceWorld
from benchmarks.simulate.setting import Setting
from benchmarks.simulate.shared_log import SharedStore
from benchmarks.simulate.sql_pool import SqlDatabase, SqlPool
from benchmarks.simulate.takeovers import Takeovers
from benchmarks.simulate.webhooks import SharedHooks
from utils.a2a_common.engine.procrastinate_queue import ProcrastinateQueue
from utils.a2a_common.engine.unfinished_turns import resubscribe_status
from utils.a2a_common.server.agent_service import AgentService
from utils.a2a_common.server.app import PUSH_LOOK_SECONDS
from utils.a2a_common.tasks.log import TaskLog
from utils.errors import StorageError

REPLICAS = 2

TAKEOVER_SECONDS = 10.0


class ReplicasWorld(ServiceWorld):
    """Users, and replicas of which any serves them; one that is lost is replaced."""

    push_look_seconds = PUSH_LOOK_SECONDS

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        facts = setting.facts
        clock = setting.loop.time
        self.takeovers = Takeovers(facts.taken_over)
        self.notices = Notices(self.lots, lambda: setting.faults.on, self.lots.choice((0.0, 0.0, 0.02, 0.3)))
        self.table = QueueTable(clock, self.notices, facts.handed_over.add)
        self.locks = AdvisoryLocks(clock)
        self.database = SqlDatabase(clock)

    def _start(self) -> None:
        while sum(not node.lost.is_set() for node in self.nodes) < REPLICAS:
            super()._start()

    def _service(self, process: Process) -> AgentService:
        """What one replica serves."""
        faults = self.setting.faults
        link = Link(process, faults, StorageError, pooled=True)
        library = Link(process, faults, ConnectorException, pooled=True)
        shared = SharedStore(self.store, process, self.takeovers, self.notices)
        tables = MemoryQueueTables(self.table, self.locks, self.notices, (link, library))
        pool = SqlPool(self.database, self.notices, link)
        return AgentService(
            card=CARD,
            executor=self.executor(process, link),
            log=TaskLog(faulty(shared, link), clock=self.setting.now),
            runs=faulty(self.runs, link),
            push_configs=SharedHooks(pool, partial(self._hook_changed, process)),
            queue=ProcrastinateQueue(
                tables,
                at_once=self._settings.max_concurrent_turns,
                takeover_seconds=TAKEOVER_SECONDS,
                grace=self.lots.choice((0.5, 5.0)),
            ),
        )

    def _serving(self) -> list[Node]:
        return [node for node in self.nodes if node.serves]

    def loses_nothing(self, node: Node) -> bool:
        """Whether nothing has happened yet that may end a stream of a process before its turn is settled."""
        facts = self.setting.facts
        return super().loses_nothing(node) and not facts.handed_over and not facts.unstored

    def _is_replaced(self, process: Process) -> bool:
        del process
        return True

    def _hook_changed(self, process: Process, name: str, task: str, stored: bool) -> None:
        del process
        self.receivers.hook(name, task).stored = stored

    async def _stop(self, node: Node) -> None:
        await node.parts.engine.drain(self.lots.choice((0.0, 0.5, 5.0)))
        node.log.other_replicas.cut(resubscribe_status)
        await node.parts.push.aclose(self.lots.choice((0.0, 5.0)))
        await node.hooks.close()
        await node.log.close()
        self.setting.trace.note(node.process.name, "has stopped")
        self._exit(node)

    async def _settle_down(self) -> None:
        """Wait until nothing is left to do; what a lost process left is found by the others."""
        await self._wait_until_done([await self.node(), *self._serving()])
        if self.setting.facts.lost_processes | self.setting.facts.unstored:
            await asyncio.sleep(PUSH_LOOK_SECONDS)
            await self._wait_until_done(self._serving())
