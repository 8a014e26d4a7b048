"""Executors, turns and an engine over memory for the tests of the engine."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from a2a.server.agent_execution import RequestContext
from a2a.server.context import ServerCallContext
from a2a.server.events.event_queue import Event, EventQueue
from a2a.types.a2a_pb2 import (
    Artifact,
    Message,
    Part,
    Role,
    SendMessageRequest,
    Task,
    TaskArtifactUpdateEvent,
    TaskState,
    TaskStatus,
    TaskStatusUpdateEvent,
)

from utils.a2a_common.engine.caller_quota import CallerQuota
from utils.a2a_common.engine.local import LocalEngine
from utils.a2a_common.engine.turn_executor import TurnExecutor
from utils.a2a_common.engine.turn_runner import TurnRunner
from utils.a2a_common.tasks.log import TaskLog
from utils.a2a_common.tasks.turn import Turn
from utils.persistence.runs import MemoryRuns, RunStore
from utils.persistence.task_log_memory import MemoryTaskLogStore
from utils.persistence.task_log_store import TaskLogStore

OWNER = "owner"
CALL = ServerCallContext()

Work = Callable[[RequestContext, EventQueue], Awaitable[None]]


def turn(
    task_id: str,
    *,
    conversation: str = "",
    message_id: str = "",
    text: str = "Hello.",
    context: str = "c",
    owner: str = OWNER,
) -> Turn:
    """A turn of a conversation of its own, unless one is named."""
    message = Message(
        message_id=message_id or f"m-{task_id}",
        role=Role.ROLE_USER,
        task_id=task_id,
        context_id=context,
        parts=[Part(text=text)],
    )
    request = SendMessageRequest(message=message)
    return Turn(task_id, context, conversation or f"conversation of {task_id}", owner, request)


def task_of(context: RequestContext) -> Task:
    status = TaskStatus(state=TaskState.TASK_STATE_SUBMITTED)
    assert context.message is not None
    return Task(id=context.task_id, context_id=context.context_id, status=status, history=[context.message])


def status_of(context: RequestContext, name: str, text: str = "") -> TaskStatusUpdateEvent:
    """A status by the end of its name: `working`, `completed`, …"""
    status = TaskStatus(state=f"TASK_STATE_{name.upper()}")
    if text:
        status.message.CopyFrom(Message(message_id=text, role=Role.ROLE_AGENT, parts=[Part(text=text)]))
    return TaskStatusUpdateEvent(task_id=context.task_id, context_id=context.context_id, status=status)


def piece_of(context: RequestContext, text: str, *, append: bool = False) -> TaskArtifactUpdateEvent:
    artifact = Artifact(artifact_id="response", parts=[Part(text=text)])
    return TaskArtifactUpdateEvent(
        task_id=context.task_id, context_id=context.context_id, artifact=artifact, append=append
    )


async def answer(context: RequestContext, queue: EventQueue) -> None:
    """An executor's work: the task, its text, its end."""
    if context.current_task is None:
        await queue.enqueue_event(task_of(context))
    await queue.enqueue_event(status_of(context, "working"))
    await queue.enqueue_event(piece_of(context, "Done."))
    await queue.enqueue_event(status_of(context, "completed"))


class Executor(TurnExecutor):
    """Does what it is told; waits at `gate` first, where that is closed.

    Attributes:
        began: Tasks that were begun, in order.
        canceled: Tasks whose cancellation it was told of.
        abandoned: Tasks that ended without their run.
        forgotten: Tasks whose turns can never be resumed.
    """

    resumable = False
    begins_with_task = False

    def __init__(
        self, work: Work = answer, *, resumable: bool = False, begins_with_task: bool = False
    ) -> None:
        self.work = work
        self.resumable = resumable
        self.begins_with_task = begins_with_task
        self.gate = asyncio.Event()
        self.gate.set()
        self.contexts: list[Any] = []
        self.changed = asyncio.Event()
        self.canceled: list[str] = []
        self.abandoned: list[str] = []
        self.forgotten: list[str] = []
        self.stopped: list[str] = []

    @property
    def began(self) -> list[str]:
        return [str(context.task_id) for context in self.contexts]

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        self.contexts.append(context)
        self.changed.set()
        try:
            await self.gate.wait()
            await self.work(context, event_queue)
        except asyncio.CancelledError:
            self.stopped.append(str(context.task_id))
            raise

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        self.canceled.append(str(context.task_id))

    async def abandon(self, task_id: str) -> None:
        self.abandoned.append(task_id)

    async def forget(self, task_id: str) -> None:
        self.forgotten.append(task_id)

    async def begun(self, count: int) -> None:
        """Wait until that many turns have begun."""
        async with asyncio.timeout(60):
            while len(self.contexts) < count:
                self.changed.clear()
                await self.changed.wait()


@dataclass
class House:
    """One process: a log and an engine over stores that may outlive it."""

    executor: Executor
    store: TaskLogStore = field(default_factory=MemoryTaskLogStore)
    runs: RunStore = field(default_factory=MemoryRuns)
    max_turns: int = 10
    max_waiting: int = 10
    caller_turns: int | None = 0
    caller_size: int = 0
    fair: bool = False
    stop_seconds: float = 5.0

    def __post_init__(self) -> None:
        self.log = TaskLog(self.store)
        self.runner = TurnRunner(self.executor, self.log, stop_seconds=self.stop_seconds)
        self.engine = LocalEngine(
            self.log,
            self.runs,
            self.runner,
            max_turns=self.max_turns,
            max_waiting=self.max_waiting,
            caller_quota=CallerQuota(self.caller_turns, self.caller_size),
            fair=self.fair,
        )

    async def submit(self, *turns: Turn) -> None:
        for each in turns:
            await self.engine.submit(each, CALL)

    async def events(self, task_id: str) -> list[Event]:
        """All events of a task, up to the end of its turn."""
        async with asyncio.timeout(60):
            return [entry.event async for entry in self.log.read(task_id, OWNER)]

    async def state(self, task_id: str) -> str:
        head = await self.log.head(task_id, OWNER)
        if head is None:
            return ""
        return TaskState.Name(head.status.state).removeprefix("TASK_STATE_").lower()

    async def settled(self, *task_ids: str) -> list[str]:
        """The states of tasks once nothing is under way for them."""
        async with asyncio.timeout(60):
            while any(self.engine.under_way(task_id) for task_id in task_ids):
                await asyncio.sleep(0)
        return [await self.state(task_id) for task_id in task_ids]

    def next(self, executor: Executor) -> House:
        """The process that starts after this one, of which nothing is tidied up: killed, or stalled for a while."""
        return House(executor, self.store, self.runs, self.max_turns, self.max_waiting)

    async def row_ids(self) -> list[str]:
        return [row.task_id for row in await self.runs.rows()]
