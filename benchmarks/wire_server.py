"""The two servers that `benchmarks/wire.py` compares, each in a process of its own.

`python -m benchmarks.wire_server ours|bare memory|PATH` prints its port. Both run the same agent: it
echoes, or streams `chunks COUNT SIZE`.
"""

from __future__ import annotations

import asyncio
import logging
import sys
from pathlib import Path
from typing import TYPE_CHECKING

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

from utils.testing.live_server import loopback_socket, running

if TYPE_CHECKING:
    from starlette.applications import Starlette


class Agent(AgentExecutor):
    """Echoes, or streams as many chunks as it is told to."""

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        """One turn."""
        assert context.message is not None
        words = context.get_user_input().split()
        count, size = (int(words[1]), int(words[2])) if words[0] == "chunks" else (1, 20)
        await event_queue.enqueue_event(new_task_from_user_message(context.message))
        await event_queue.enqueue_event(_status(context, TaskState.TASK_STATE_WORKING))
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


def ours(storage: str) -> Starlette:
    """Our server, all guards on."""
    from utils.a2a_common.scope import owner_of
    from utils.a2a_common.server import AgentService, build_app
    from utils.persistence.tasks import memory_task_store, sqlite_task_store
    from utils.settings import ServerSettings

    store = memory_task_store(owner_of) if storage == "memory" else sqlite_task_store(Path(storage), owner_of)
    return build_app(AgentService(card=CARD, executor=Agent(), store=store), ServerSettings.load({}))


async def bare(storage: str) -> Starlette:
    """The SDK's server and stores as its documentation has them; SQLite in WAL, as ours."""
    from a2a.server.request_handlers import DefaultRequestHandler
    from a2a.server.routes import create_jsonrpc_routes
    from a2a.server.tasks import DatabaseTaskStore, InMemoryTaskStore, TaskStore
    from sqlalchemy import event
    from sqlalchemy.ext.asyncio import create_async_engine
    from starlette.applications import Starlette

    store: TaskStore = InMemoryTaskStore()
    if storage != "memory":
        engine = create_async_engine(f"sqlite+aiosqlite:///{storage}")

        @event.listens_for(engine.sync_engine, "connect")
        def pragmas(connection: object, _: object) -> None:
            for pragma in ("journal_mode=WAL", "synchronous=NORMAL"):
                connection.execute(f"PRAGMA {pragma}")  # type: ignore[attr-defined]

        store = DatabaseTaskStore(engine)
        await store.initialize()
    handler = DefaultRequestHandler(agent_executor=Agent(), task_store=store, agent_card=CARD)
    return Starlette(routes=create_jsonrpc_routes(handler, "/"))


async def main(kind: str, storage: str) -> None:
    """Serve until standard input closes."""
    logging.disable(logging.CRITICAL)
    app = ours(storage) if kind == "ours" else await bare(storage)
    listener = loopback_socket()
    async with running(app, listener=listener):
        print(listener.getsockname()[1], flush=True)
        await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
