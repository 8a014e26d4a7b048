"""Executors that behave, and some that do not."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from a2a.helpers.proto_helpers import new_task_from_user_message
from a2a.server.agent_execution import RequestContext
from a2a.server.events.event_queue import EventQueue
from a2a.types.a2a_pb2 import (
    AgentCapabilities,
    AgentCard,
    AgentExtension,
    AgentInterface,
    AgentSkill,
    Artifact,
    Part,
    TaskArtifactUpdateEvent,
    TaskState,
    TaskStatus,
    TaskStatusUpdateEvent,
)

from utils.a2a_common.engine.turn_executor import TurnExecutor

Script = Callable[["Stage"], Awaitable[None]]


class Stage:
    """What a scripted agent can do, in one word each."""

    def __init__(self, context: RequestContext, queue: EventQueue) -> None:
        self.context = context
        self.queue = queue

    async def task(self) -> None:
        if self.context.current_task is None:
            assert self.context.message is not None
            await self.queue.enqueue_event(new_task_from_user_message(self.context.message))

    async def status(self, state: TaskState) -> None:
        await self.queue.enqueue_event(
            TaskStatusUpdateEvent(
                task_id=self.context.task_id,
                context_id=self.context.context_id,
                status=TaskStatus(state=state),
            )
        )

    async def chunk(self, text: str, *, append: bool = True, artifact: str = "response", last=False) -> None:
        await self.queue.enqueue_event(
            TaskArtifactUpdateEvent(
                task_id=self.context.task_id,
                context_id=self.context.context_id,
                artifact=Artifact(artifact_id=artifact, parts=[Part(text=text)]),
                append=append,
                last_chunk=last,
            )
        )


class Scripted(TurnExecutor):
    """Plays a script; `cancelled` is set when a cancel arrives."""

    resumable = False
    begins_with_task = False

    def __init__(self, script: Script) -> None:
        self._script = script
        self.cancelled = asyncio.Event()
        self.seen: list[RequestContext] = []

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        self.seen.append(context)
        await self._script(Stage(context, event_queue))

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        self.cancelled.set()

    async def abandon(self, task_id: str) -> None:
        """It has no sub-tasks."""

    async def forget(self, task_id: str) -> None:
        """It stores nothing for a resume."""


async def echo(stage: Stage) -> None:
    await stage.task()
    await stage.status(TaskState.TASK_STATE_WORKING)
    await stage.chunk(stage.context.get_user_input(), append=False, last=True)
    await stage.status(TaskState.TASK_STATE_COMPLETED)


def card(*, required: tuple[str, ...] = (), url: str = "http://127.0.0.1:1") -> AgentCard:
    return AgentCard(
        name="Echo",
        description="Says what it hears.",
        version="1.0.0",
        supported_interfaces=[
            AgentInterface(url=address, protocol_binding=binding, protocol_version=version)
            for version in ("1.0", "0.3")
            for binding, address in (("JSONRPC", f"{url}/"), ("HTTP+JSON", f"{url}/rest"))
        ],
        capabilities=AgentCapabilities(
            streaming=True,
            push_notifications=True,
            extended_agent_card=True,
            extensions=[AgentExtension(uri=uri, required=True) for uri in required],
        ),
        default_input_modes=["text/plain", "application/json"],
        default_output_modes=["text/plain"],
        skills=[AgentSkill(id="echo", name="Echo", description="Says what it hears.", tags=["echo"])],
    )
