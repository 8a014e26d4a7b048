"""Small A2A agents built with the SDK alone, so that the command line is tested against foreign servers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from a2a.helpers import new_task_from_user_message, new_text_message
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes, create_rest_routes
from a2a.server.tasks import InMemoryTaskStore
from a2a.types import (
    AgentCapabilities,
    AgentCard,
    AgentInterface,
    AgentSkill,
    Artifact,
    Part,
    Role,
    TaskArtifactUpdateEvent,
    TaskStatus,
    TaskStatusUpdateEvent,
)
from google.protobuf.json_format import ParseDict
from google.protobuf.struct_pb2 import Struct, Value
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route

from utils.testing.live_server import IDLE_SECONDS

ACTIVITY = "urn:platform-engineer:ext:activity:v1"
ERROR = "urn:platform-engineer:ext:error:v1"
USAGE = "urn:platform-engineer:ext:usage:v1"


@dataclass
class Turn:
    """What a script may do with one request."""

    context: RequestContext
    queue: EventQueue

    @property
    def text(self) -> str:
        return self.context.get_user_input()

    @property
    def ids(self) -> dict[str, Any]:
        return {"task_id": self.context.task_id or "", "context_id": self.context.context_id or ""}

    async def task(self) -> None:
        if self.context.current_task is None:
            assert self.context.message is not None
            await self.queue.enqueue_event(new_task_from_user_message(self.context.message))

    async def status(self, state: str, text: str = "", metadata: dict[str, Any] | None = None) -> None:
        status = TaskStatus(state=f"TASK_STATE_{state.upper()}")
        status.timestamp.GetCurrentTime()  # lists are in its order
        if text:
            status.message.CopyFrom(new_text_message(text, role=Role.ROLE_AGENT, **self.ids))
        event = TaskStatusUpdateEvent(**self.ids, status=status, metadata=_struct(metadata or {}))
        await self.queue.enqueue_event(event)

    async def activity(self, **payload: Any) -> None:
        await self.status("working", metadata={ACTIVITY: payload})

    async def chunk(self, text: str, *, append: bool, last: bool = False, name: str = "response") -> None:
        artifact = Artifact(artifact_id=f"{name}-1", name=name, parts=[Part(text=text)])
        event = TaskArtifactUpdateEvent(**self.ids, artifact=artifact, append=append, last_chunk=last)
        await self.queue.enqueue_event(event)

    async def files(self, *parts: Part, name: str = "files") -> None:
        artifact = Artifact(artifact_id=f"{name}-1", name=name, parts=parts)
        await self.queue.enqueue_event(
            TaskArtifactUpdateEvent(**self.ids, artifact=artifact, last_chunk=True)
        )

    async def plan(self, *steps: dict[str, Any]) -> None:
        part = Part(data=ParseDict({"steps": list(steps)}, Value()))
        artifact = Artifact(artifact_id="plan-1", name="plan", parts=[part])
        await self.queue.enqueue_event(TaskArtifactUpdateEvent(**self.ids, artifact=artifact))

    async def message(self, text: str) -> None:
        await self.queue.enqueue_event(new_text_message(text, context_id=self.ids["context_id"]))


Script = Callable[[Turn], Awaitable[None]]


@dataclass
class ScriptedAgent(AgentExecutor):
    """Runs the script and remembers what it was asked."""

    script: Script
    seen: list[tuple[str, str, str]] = field(default_factory=list)
    canceled: list[str] = field(default_factory=list)
    started: asyncio.Event = field(default_factory=asyncio.Event)

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        turn = Turn(context, event_queue)
        self.seen.append((turn.text, turn.ids["task_id"], turn.ids["context_id"]))
        self.started.set()
        await self.script(turn)

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        self.canceled.append(context.task_id or "")
        await Turn(context, event_queue).status("canceled")


@asynccontextmanager
async def serve(
    agent: ScriptedAgent, *, streaming: bool = True, wrap: Any = None, port: int = 0
) -> AsyncIterator[str]:
    """The agent on a free loopback port; the block gets its address."""
    config = uvicorn.Config(
        None,  # type: ignore[arg-type]
        host="127.0.0.1",
        port=port,
        log_level="critical",
        lifespan="off",
        timeout_keep_alive=IDLE_SECONDS,
    )
    sock = config.bind_socket()
    url = f"http://127.0.0.1:{sock.getsockname()[1]}"
    card = _card(url, streaming=streaming)
    handler = DefaultRequestHandler(agent_executor=agent, task_store=InMemoryTaskStore(), agent_card=card)
    app: Any = Starlette(
        routes=[
            Route("/readyz", lambda _: JSONResponse({"ready": True, "detail": "at your service"})),
            *create_agent_card_routes(card),
            *create_jsonrpc_routes(handler, "/"),
            *create_rest_routes(handler, path_prefix="/rest"),
        ]
    )
    config.app = wrap(app) if wrap else app
    server = uvicorn.Server(config)
    server.install_signal_handlers = lambda: None  # type: ignore[attr-defined]
    running = asyncio.create_task(server._serve([sock]))
    try:
        yield url
    finally:
        server.should_exit = server.force_exit = True
        await running
        await handler.aclose()
        sock.close()


def _card(url: str, *, streaming: bool) -> AgentCard:
    return AgentCard(
        name="Scripted",
        description="Does what a test says.",
        version="1.2.3",
        supported_interfaces=[
            AgentInterface(url=f"{url}/", protocol_binding="JSONRPC", protocol_version="1.0"),
        ],
        capabilities=AgentCapabilities(streaming=streaming),
        default_input_modes=["text/plain"],
        default_output_modes=["text/plain"],
        skills=[AgentSkill(id="echo", name="Echo", description="Says it again.", tags=["test"])],
    )


def _struct(values: dict[str, Any]) -> Struct:
    struct = Struct()
    struct.update(values)
    return struct
