"""Schedules of the whole service: handler, engine and log of each process, over stores that outlive it, and their users."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from functools import partial

from a2a.server.agent_execution import AgentExecutor
from a2a.server.request_handlers import RequestHandler
from a2a.types.a2a_pb2 import AgentCapabilities, AgentCard, Task

from benchmarks.simulate.executor import ScriptedExecutor
from benchmarks.simulate.facts import Reading, Request, Stored
from benchmarks.simulate.faulty_store import Link, faulty
from benchmarks.simulate.house_script import HouseScript
from benchmarks.simulate.process import Process
from benchmarks.simulate.script import Script, deal
from benchmarks.simulate.setting import FAULTY_SECONDS, Setting
from benchmarks.simulate.stored import stored_events
from benchmarks.simulate.user import User
from benchmarks.simulate.view import snapshot_of
from benchmarks.simulate.webhooks import Receivers, SimulatedDelivery, StoredHooks, hook_table
from utils.a2a_common.server.agent_service import AgentService
from utils.a2a_common.server.assembly import Parts, assemble
from utils.a2a_common.server.push.delivery import PushPolicy
from utils.a2a_common.server.push.store import PushConfigs
from utils.a2a_common.tasks.log import TaskLog
from utils.errors import StorageError
from utils.persistence.runs import MemoryRuns
from utils.persistence.task_log_memory import MemoryTaskLogStore
from utils.persistence.task_log_store import Query
from utils.settings import ServerSettings

OWNER = '["", ""]'

CARD = AgentCard(
    name="agent",
    default_input_modes=["text/plain"],
    default_output_modes=["text/plain"],
    capabilities=AgentCapabilities(streaming=True, push_notifications=True),
)


@dataclass(slots=True)
class Node:
    """A process that serves requests.

    Attributes:
        lost: Set when nobody waits for it any more: it died, stalled, or stopped.
        stopping: Whether it takes no new requests.
    """

    process: Process
    log: TaskLog
    parts: Parts
    hooks: PushConfigs
    ready: bool = False
    stopping: bool = False
    lost: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def serves(self) -> bool:
        """Whether it takes new requests."""
        return self.ready and not self.stopping and not self.lost.is_set()

    @property
    def handler(self) -> RequestHandler:
        """Answers its requests."""
        return self.parts.handler


class ServiceWorld:
    """Users, and one process after the other that serves them.

    Attributes:
        push_look_seconds: Time between two looks of a process for webhooks that others left.
    """

    push_look_seconds: float | None = None

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self.lots = setting.lots
        self.store = MemoryTaskLogStore()
        self.runs = MemoryRuns()
        self.hooks = hook_table()
        self.receivers = Receivers(setting)
        self.nodes: list[Node] = []
        self.requests: dict[str, Request] = {}
        self.tasks: dict[str, None] = {}
        self._resumable = self.lots.random() < 0.8
        self._says_canceled = self.lots.random() < 0.5
        limits = {
            "MAX_CONCURRENT_TURNS": str(self.lots.choice((1, 2, 8))),
            "MAX_WAITING_TURNS": str(self.lots.choice((1, 2, 16))),
        }
        self._settings = ServerSettings.load(limits)

    async def run(self) -> None:
        """The whole schedule, and its facts."""
        self._start()
        users = [User(self, f"user{number}") for number in range(self.lots.randint(1, 4))]
        work = [asyncio.create_task(user.run(), name=user.name) for user in users]
        work += [asyncio.create_task(user.watch(), name=f"{user.name} (watching)") for user in users]
        work.append(asyncio.create_task(self._stop_sometimes(), name="signals"))
        await self.setting.finish(work)
        await self._settle_down()
        await self._gather_facts()

    async def node(self) -> Node:
        """A process that serves now; waits for one that does."""
        while not (serving := self._serving()):  # noqa: ASYNC110 - as a client
            await asyncio.sleep(0.1)
        return serving[0] if len(serving) == 1 else self.lots.choice(serving)

    def _serving(self) -> list[Node]:
        """The processes that take requests: one, which is the last that was started."""
        return [node for node in self.nodes[-1:] if node.serves]

    def loses_nothing(self, node: Node) -> bool:
        """Whether nothing has happened yet that may end a stream of a process before its turn is settled."""
        return not self.setting.facts.lost_processes and not node.stopping

    # processes

    def _start(self) -> None:
        process = self.setting.process("p", self._lost)
        service = self._service(process)
        parts = process.context().run(assemble, service, self._settings)
        delivery = SimulatedDelivery(PushPolicy(), process.name, self.receivers)
        parts.push._delivery = delivery  # noqa: SLF001 - what goes over the network in the product
        node = Node(process, service.log, parts, service.push_configs)
        self.nodes.append(node)
        process.spawn(self._begin(node))

    def _service(self, process: Process) -> AgentService:
        """What one process serves."""
        link = Link(process, self.setting.faults, StorageError)
        return AgentService(
            card=CARD,
            executor=self.executor(process, link),
            log=TaskLog(faulty(self.store, link), clock=self.setting.now),
            runs=faulty(self.runs, link),
            push_configs=StoredHooks(self.hooks, link, partial(self._hook_changed, process)),
        )

    def _hook_changed(self, process: Process, name: str, task: str, stored: bool) -> None:
        """A process stored or deleted a webhook: each holds them in memory, as its start found them."""
        hook = self.receivers.hook(name, task)
        hook.stored = stored
        hook.overtaken |= self.nodes[-1].process is not process

    def executor(self, process: Process, link: Link) -> AgentExecutor:
        """The executor of one process."""
        del process, link
        return ScriptedExecutor(
            self.setting.facts,
            self.setting.trace,
            resumable=self._resumable,
            says_canceled=self._says_canceled,
        )

    def deal(self, endings: tuple[str, ...]) -> Script | HouseScript:
        """What a message asks for."""
        return deal(self.lots, endings=endings)

    async def _begin(self, node: Node) -> None:
        try:
            await node.log.open()
            await node.hooks.open()
            await node.parts.engine.start()
            node.parts.push.start(every=self.push_look_seconds)
            node.ready = True
        except StorageError as error:
            self.setting.trace.note(node.process.name, f"does not start: {error}")
            self._exit(node)

    def _exit(self, node: Node) -> None:
        """The process ends by itself."""
        self.setting.facts.lost_processes.add(node.process.name)
        node.process.die()
        if not node.lost.is_set():
            self._lost(node.process)

    def _lost(self, process: Process) -> None:
        for node in self.nodes:
            if node.process is process:
                node.lost.set()
        if self._is_replaced(process):
            self.setting.later(self.lots.uniform(0.0, 2.0), self._start)

    def _is_replaced(self, process: Process) -> bool:
        """Whether another process takes the place of one that is lost."""
        return self.nodes[-1].process is process

    async def _stop_sometimes(self) -> None:
        """Stop the process in order, as SIGTERM does."""
        if self.lots.random() < 0.6:
            return
        await asyncio.sleep(self.lots.uniform(0.0, FAULTY_SECONDS))
        node = await self.node()
        node.stopping = True
        self.setting.facts.spared.add(node.process.name)
        self.setting.trace.note(node.process.name, "is asked to stop")
        stop = node.process.spawn(self._stop(node))
        lost = asyncio.create_task(node.lost.wait())
        await asyncio.wait([stop, lost], return_when=asyncio.FIRST_COMPLETED)
        lost.cancel()

    async def _stop(self, node: Node) -> None:
        await node.parts.engine.drain(self.lots.choice((0.0, 0.5, 5.0)))
        await node.parts.push.aclose(self.lots.choice((0.0, 5.0)))
        await node.log.close()
        self.setting.trace.note(node.process.name, "has stopped")
        self._exit(node)

    # facts

    async def _settle_down(self) -> None:
        """Wait until nothing is left to do; what a lost process left is found at the next start."""
        node = await self.node()
        if self.setting.facts.lost_processes:
            self._exit(node)
            node = await self.node()
        await self._wait_until_done([node])

    async def _wait_until_done(self, nodes: list[Node]) -> None:
        for _ in range(300):
            working = await TaskLog(self.store).unfinished()
            sends = any(node.parts.push._lanes for node in nodes)  # noqa: SLF001 - nobody else knows
            if not working and not sends and not await self.runs.rows():
                return
            await asyncio.sleep(1.0)
        self.setting.trace.note("world", "something is still to be done")

    async def _gather_facts(self) -> None:
        facts = self.setting.facts
        facts.requests += self.requests.values()
        facts.left_runs += [row.task_id for row in await self.runs.rows()]
        rows, _ = await self.store.page(Query(OWNER, limit=10_000))
        log = TaskLog(self.store, clock=self.setting.now)
        for row in rows:
            snapshot = await log.snapshot(row.id, row.owner)
            assert snapshot is not None
            events = await stored_events(self.store, row.id)
            facts.stored.append(
                Stored(row.id, snapshot_of(snapshot.task), events, self._messages(snapshot.task))
            )
            facts.readings.append(Reading("the store", row.id, seen=list(events), ended=True))

    def _messages(self, task: Task) -> tuple[str, ...]:
        return tuple(each.message_id for each in task.history if each.message_id in self.requests)
