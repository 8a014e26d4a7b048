"""The agent of `benchmarks/wire_server.py`: it echoes, streams `chunks COUNT SIZE`, or works on `wait` until one says `release`."""

from __future__ import annotations

import asyncio

from a2a.helpers.proto_helpers import new_task_from_user_message
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events.event_queue import EventQueue
from a2a.types.a2a_pb2 import (
    AgentCapabilities,
    AgentCard,
    AgentInterface,
    AgentSkill,
    Artifact,
    Part,
    TaskArtifactUpdateEvent,
    TaskState,
    TaskStatus,
    TaskStatusUpdateEvent,
)


class Agent(AgentExecutor):
    """Echoes, streams as many chunks as it is told to, or waits."""

    def __init__(self) -> None:
        self._released = asyncio.Event()

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        """One turn."""
        assert context.message is not None
        words = context.get_user_input().split()
        count, size = (int(words[1]), int(words[2])) if words[0] == "chunks" else (1, 20)
        await event_queue.enqueue_event(new_task_from_user_message(context.message))
        await event_queue.enqueue_event(_status(context, TaskState.TASK_STATE_WORKING))
        if words[0] == "wait":
            await self._released.wait()
        elif words[0] == "release":
            self._released.set()
            self._released = asyncio.Event()
        for index in range(count):
            await event_queue.enqueue_event(
                TaskArtifactUpdateEvent(
                    task_id=context.task_id,
                    context_id=context.context_id,
                    artifact=Artifact(artifact_id="response", parts=[Part(text="x" * size)]),
                    append=index > 0,
                )
            )
        await event_queue.enqueue_event(_status(context, TaskState.TASK_STATE_COMPLETED))

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        """Nothing to stop."""


def _status(context: RequestContext, state: TaskState) -> TaskStatusUpdateEvent:
    status = TaskStatus(state=state)
    status.timestamp.GetCurrentTime()
    return TaskStatusUpdateEvent(task_id=context.task_id, context_id=context.context_id, status=status)


CARD = AgentCard(
    name="Bench",
    description="Echoes.",
    version="1",
    supported_interfaces=[
        AgentInterface(url="http://127.0.0.1/", protocol_binding="JSONRPC", protocol_version="1.0")
    ],
    capabilities=AgentCapabilities(streaming=True),
    default_input_modes=["text/plain"],
    default_output_modes=["text/plain"],
    skills=[AgentSkill(id="echo", name="Echo", description="Echoes.", tags=["echo"])],
)
