"""Schedules of the task log alone: attempts that race for a task, and readers.

One process serves at a time. One that stalled is taken for dead and followed by the next; then it goes on.
"""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

from a2a.types.a2a_pb2 import Message, Role, Task, TaskState
from a2a.utils.errors import TaskNotFoundError

from benchmarks.simulate.facts import Reading, Request, Run, Stored
from benchmarks.simulate.faulty_store import Link, faulty
from benchmarks.simulate.process import Process
from benchmarks.simulate.script import (
    Ids,
    Script,
    chunks,
    deal,
    ending_of,
    late,
    status_of,
    task_of,
    user_message,
)
from benchmarks.simulate.setting import Setting
from benchmarks.simulate.stored import stored_events
from benchmarks.simulate.takeovers import Takeovers, watched
from benchmarks.simulate.view import (
    INTERRUPTED,
    SETTLED,
    TERMINAL,
    Said,
    Seen,
    Snapshot,
    Status,
    seen_of,
    snapshot_of,
    state_name,
)
from utils.a2a_common.tasks.entries import Fenced, Suspended
from utils.a2a_common.tasks.log import TaskLog
from utils.a2a_common.tasks.writer import TaskWriter
from utils.errors import StorageError
from utils.persistence.task_log_memory import MemoryTaskLogStore

OWNER = "owner"
ENDINGS = ("done", "done", "done", "ask", "ask", "fail", "message")


@dataclass(slots=True)
class Node:
    """A process with its own log over the shared store."""

    process: Process
    log: TaskLog
    lost: asyncio.Event = field(default_factory=asyncio.Event)


class Result(NamedTuple):
    """What became of an attempt: a word, and its number where its end is still to be stored."""

    word: str
    failing: int = 0


@dataclass(slots=True)
class Job:
    """A task: its turns one after the other, and how many of them are over."""

    task: str
    turns: list[tuple[Ids, Script]]
    over: bool = False


class LogWorld:
    """Tasks, attempts to write them, and readers."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self.lots = setting.lots
        self.store = MemoryTaskLogStore()
        self.takeovers = Takeovers(setting.facts.taken_over)
        self.nodes: list[Node] = []
        self.jobs = [self._job(number) for number in range(self.lots.randint(1, 3))]

    async def run(self) -> None:
        """The whole schedule, and its facts."""
        self._start()
        work = [asyncio.create_task(self._work(job), name=f"writer of {job.task}") for job in self.jobs]
        for number in range(self.lots.randint(0, 5)):
            name, job = f"reader{number}", self.lots.choice(self.jobs)
            work.append(asyncio.create_task(self._read(name, job), name=f"{name} of {job.task}"))
        await self.setting.finish(work)
        await self._gather_facts()

    # processes

    def _start(self) -> None:
        process = self.setting.process("p", self._lost)
        link = Link(process, self.setting.faults, StorageError)
        store = faulty(watched(self.store, process.name, self.takeovers), link)
        log = process.context().run(TaskLog, store, clock=self.setting.now)
        self.nodes.append(Node(process, log))

    def _lost(self, process: Process) -> None:
        assert self.nodes[-1].process is process
        self.nodes[-1].lost.set()
        self.setting.later(self.lots.uniform(0.0, 2.0), self._start)

    async def _node(self) -> Node:
        """The process that serves now: one at a time; one that stalled is not asked again."""
        while self.nodes[-1].lost.is_set():  # noqa: ASYNC110 - as a client looks for a server
            await asyncio.sleep(0.1)
        return self.nodes[-1]

    # writers

    def _job(self, number: int) -> Job:
        task, turns = f"t{number}", []
        for turn in range(4):
            script = deal(
                self.lots, endings=ENDINGS if turn == 0 else ENDINGS[:-1] if turn < 3 else ("done",)
            )
            message = f"m{number}.{turn}"
            turns.append((Ids(task, f"c{number}", message), script))
            self.setting.facts.requests.append(
                Request(message, [task], artifacts=tuple(script.artifacts(message).items()))
            )
            if script.ending != "ask":
                break
        return Job(task, turns)

    async def _work(self, job: Job) -> None:
        """Every turn of a task, by as many attempts as it takes."""
        await asyncio.sleep(self.lots.uniform(0.0, 3.0))
        for ids, script in job.turns:
            state = ""
            while not state:
                node = await self._node()
                attempt = node.process.spawn(self._attempt(node, ids, script))
                state = await self._followed(node, attempt, ids)
            if state in TERMINAL or state == "said":
                break
        job.over = True

    async def _followed(self, node: Node, attempt: asyncio.Task[Result], ids: Ids) -> str:
        """Wait for an attempt, or leave it to another one; the state that settles the turn, if it is settled."""
        gone = asyncio.create_task(node.lost.wait())
        patience = self.lots.choice((None, None, None, self.lots.uniform(0.0, 3.0)))
        if self.lots.random() < 0.15:
            self.setting.later(self.lots.uniform(0.0, 1.0), partial(self._cancel, attempt, node))
        await asyncio.wait([attempt, gone], timeout=patience, return_when=asyncio.FIRST_COMPLETED)
        if attempt.done():
            word, failing = Result("") if attempt.cancelled() else attempt.result()
            while failing and not node.lost.is_set() and await self._unfinished(ids, failing):  # noqa: ASYNC110 - nobody tells
                await asyncio.sleep(0.5)
            gone.cancel()
            return word if word == "said" else await self._settled(ids)
        gone.cancel()
        self.setting.trace.note("world", f"leaves {ids.message} of {node.process.name} to another")
        return ""

    def _cancel(self, attempt: asyncio.Task[Result], node: Node) -> None:
        if not attempt.done() and not node.process.dead:
            self.setting.trace.note("world", f"cancels an attempt in {node.process.name}")
            attempt.cancel()

    async def _settled(self, ids: Ids) -> str:
        """The state of the task where the turn is settled, as it is in the store."""
        snapshot = await TaskLog(self.store, clock=self.setting.now).snapshot(ids.task, OWNER)
        return _settled_by(snapshot.task, ids.message) if snapshot is not None else ""

    async def _unfinished(self, ids: Ids, attempt: int) -> bool:
        """Whether the task is stored, and its end is not, and no later attempt claimed it: that one may be lost."""
        stored = await self.store.look(ids.task, OWNER)
        if stored is None or stored.row is None or stored.attempt != attempt:
            return False
        return not await self._settled(ids)

    async def _attempt(self, node: Node, ids: Ids, script: Script) -> Result:
        """Run a turn once."""
        run = Run(ids.message, ids.task, node.process.name)
        try:
            writer = await node.log.claim(ids.task, OWNER)
        except StorageError:
            return Result("")
        self.setting.trace.note(node.process.name, f"claims {ids.task}, attempt {writer.attempt}")
        try:
            return Result(await self._write(writer, ids, script, run))
        except (Fenced, Suspended) as refused:
            self.setting.trace.note(node.process.name, f"{ids.task}: {type(refused).__name__}")
            return Result("")
        except StorageError:
            self.setting.trace.note(node.process.name, f"{ids.task}: storage failed")
            return Result("failing", writer.attempt)
        finally:
            writer.release()

    async def _write(self, writer: TaskWriter, ids: Ids, script: Script, run: Run) -> str:
        message = user_message(ids, script, task=ids.task)
        if writer.head is not None and _settled_by(writer.head, ids.message):
            return "settled before"
        try:
            if writer.head is not None:
                if not await self._joins(writer, message):
                    return ""
            elif script.ending != "message":
                await writer.append(task_of(ids, message))
            if script.ending != "message":
                await writer.append(status_of(ids, TaskState.TASK_STATE_WORKING))
                for step, event in chunks(script, ids):
                    await asyncio.sleep(step.wait)
                    await writer.append(event)
            ending = ending_of(script, ids)
            assert ending is not None
            await writer.append(ending)
            self.setting.trace.note(run.process, f"{ids.task}: {script.ending}")
            for event in late(script, ids):
                if await writer.append(event):
                    self.setting.facts.unhandled.append(f"{event} was appended after the end of {ids.task}")
        except asyncio.CancelledError:
            if not writer.settled and writer.head is not None:
                await writer.append(status_of(ids, TaskState.TASK_STATE_CANCELED))
        return "said" if script.ending == "message" else "settled"

    async def _joins(self, writer: TaskWriter, message: Message) -> bool:
        """Let a message join its task; `False` where it is refused, so that its user sends it again."""
        try:
            await writer.add_message(message)
        except StorageError:
            self.setting.trace.note("world", f"{message.message_id} is refused")
            return False
        return True

    # readers

    async def _read(self, name: str, job: Job) -> None:
        """Read a task wherever somebody serves it, again and again, until its end or until the reader has enough."""
        pace = self.lots.choice((0.0, 0.0, 0.01, 0.5, 3.0))
        leaves = self.lots.choice((None, None, self.lots.randint(1, 8)))
        await asyncio.sleep(self.lots.uniform(0.0, 6.0))
        for _ in range(500):
            node = await self._node()
            reading = Reading(f"{name} at {node.process.name}", job.task, node.process.name)
            self.setting.facts.readings.append(reading)
            reader = node.process.spawn(self._follow(node, reading, pace, leaves))
            gone = asyncio.create_task(node.lost.wait())
            await asyncio.wait([reader, gone], return_when=asyncio.FIRST_COMPLETED)
            gone.cancel()
            if reader.done() and (reader.result() or leaves is not None):
                return
            await asyncio.sleep(self.lots.uniform(0.1, 2.0))
            if job.over and self.setting.loop.time() > 200 and not reading.seen:
                return

    async def _follow(self, node: Node, reading: Reading, pace: float, leaves: int | None) -> bool:
        """Read one stream; whether there is nothing more to read."""
        try:
            snapshot = await node.log.snapshot(reading.task, OWNER)
            after = 0
            if snapshot is not None:
                after = snapshot.sequence
                if node.lost.is_set():
                    return False
                self._note(reading, snapshot_of(snapshot.task), snapshot.sequence)
                if state_name(snapshot.task.status.state) in TERMINAL:
                    reading.ended = True
                    return True
            async with aclosing(node.log.read(reading.task, OWNER, after=after)) as entries:
                async for entry in entries:
                    if node.lost.is_set():
                        return False
                    self._note(reading, seen_of(entry.event), entry.sequence)
                    if leaves is not None and len(reading.seen) >= leaves:
                        return False
                    await asyncio.sleep(pace)
        except (StorageError, Suspended, TaskNotFoundError) as error:
            self.setting.trace.note(reading.reader, f"{reading.task}: {type(error).__name__}")
            return False
        last = reading.seen[-1] if reading.seen else None
        reading.ended = isinstance(last, Said) or (
            isinstance(last, Status | Snapshot) and last.state in SETTLED
        )
        return reading.ended and not (isinstance(last, Status | Snapshot) and last.state in INTERRUPTED)

    def _note(self, reading: Reading, seen: Seen, sequence: int) -> None:
        reading.seen.append(seen)
        self.setting.trace.note(reading.reader, f"{reading.task}: reads {sequence}: {str(seen)[:80]}")

    # facts

    async def _gather_facts(self) -> None:
        log = TaskLog(self.store, clock=self.setting.now)
        for job in self.jobs:
            snapshot = await log.snapshot(job.task, OWNER)
            if snapshot is None:
                continue
            events = await stored_events(self.store, job.task)
            sent = {ids.message for ids, _ in job.turns}
            messages = (message.message_id for message in snapshot.task.history)
            self.setting.facts.stored.append(
                Stored(
                    job.task,
                    snapshot_of(snapshot.task),
                    events,
                    tuple(each for each in messages if each in sent),
                )
            )
            self.setting.facts.readings.append(Reading("the store", job.task, seen=list(events), ended=True))


def _settled_by(task: Task, message: str) -> str:
    """The state of a task where the turn of a message settled it; a task that got its answer has no question.

    A turn whose question was answered is settled too, whoever still holds it.
    """
    state = state_name(task.status.state)
    asks = state in INTERRUPTED and task.status.HasField("message")
    asked = [each.message_id for each in task.history if each.role == Role.ROLE_USER]
    if state in TERMINAL or (asks and message in asked):
        return state
    return "input-required" if message in asked[:-1] else ""
