"""A sub-agent that is none of ours: an agent on the bare SDK, over a line that breaks in the middle of a stream."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from a2a.server.agent_execution import AgentExecutor
from a2a.server.tasks import TaskUpdater
from a2a.types.a2a_pb2 import (
    AgentCapabilities,
    AgentCard,
    AgentInterface,
    AgentSkill,
    Message,
    Part,
    Role,
    Task,
)

from utils.testing.live_server import loopback_socket, running

if TYPE_CHECKING:
    from a2a.server.agent_execution import RequestContext
    from a2a.server.events import EventQueue
    from starlette.types import ASGIApp, Receive, Scope, Send

_PAUSE_SECONDS = 0.2
"""How long a task goes on after its stream was cut."""


class Stranger(AgentExecutor):
    """Rejects, fails, asks for a login or takes a while, as told."""

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        """One turn."""
        updater = TaskUpdater(event_queue, context.task_id or "", context.context_id or "")
        if context.current_task is not None:
            await self._finish(updater, "let in")
            return
        await event_queue.enqueue_event(_submitted(context))
        await updater.start_work()
        kind = context.get_user_input().split()[1]
        if kind == "rejected":
            await updater.reject(_words("This is no work of mine."))
        elif kind == "failed":
            await updater.failed(_words("Could not do it."))
        elif kind == "login":
            await updater.requires_auth(_words("Log in first."))
        else:
            await asyncio.sleep(_PAUSE_SECONDS)
            await self._finish(updater, "held on")

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        """Say that it is over; the SDK stops the turn."""
        await TaskUpdater(event_queue, context.task_id or "", context.context_id or "").cancel()

    async def _finish(self, updater: TaskUpdater, text: str) -> None:
        await updater.add_artifact([Part(text=text)])
        await updater.complete()


class BreakingLine:
    """Cuts each stream that carries the order `cut`: in turns as if all were said, and in the middle of a chunk."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._roughly = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = bytearray()

        async def heard() -> Any:
            message = await receive()
            body.extend(message.get("body", b""))
            return message

        async def said(message: Any) -> None:
            await send(message)
            if b" cut stranger" in body and message.get("body"):
                raise ConnectionAbortedError

        try:
            await self._app(scope, heard, said)
        except* ConnectionAbortedError:
            self._roughly = not self._roughly
            if self._roughly:
                raise
            await send({"type": "http.response.body", "body": b"", "more_body": False})


def _submitted(context: RequestContext) -> Task:
    task = Task(id=context.task_id or "", context_id=context.context_id or "")
    if context.message is not None:
        task.history.append(context.message)
    return task


def _words(text: str) -> Message:
    return Message(message_id=text, role=Role.ROLE_AGENT, parts=[Part(text=text)])


@asynccontextmanager
async def stranger() -> AsyncIterator[str]:
    """Serve the stranger; its URL."""
    from a2a.server.request_handlers import DefaultRequestHandler
    from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
    from a2a.server.tasks import InMemoryTaskStore
    from starlette.applications import Starlette

    listener = loopback_socket()
    card = _card(f"http://127.0.0.1:{listener.getsockname()[1]}/")
    handler = DefaultRequestHandler(
        agent_executor=Stranger(), task_store=InMemoryTaskStore(), agent_card=card
    )
    routes = [*create_agent_card_routes(card), *create_jsonrpc_routes(handler, "/")]
    async with running(BreakingLine(Starlette(routes=routes)), listener=listener) as url:
        yield url


def _card(url: str) -> AgentCard:
    return AgentCard(
        name="stranger",
        description="Speaks A2A and nothing of ours.",
        version="1.0.0",
        supported_interfaces=[AgentInterface(url=url, protocol_binding="JSONRPC", protocol_version="1.0")],
        capabilities=AgentCapabilities(streaming=True),
        default_input_modes=["text/plain"],
        default_output_modes=["text/plain"],
        skills=[AgentSkill(id="any", name="Any", description="Anything.", tags=["chaos"])],
    )
