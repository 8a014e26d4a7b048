"""Servers on the bare SDK, each with exactly one defect."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from a2a.server.context import ServerCallContext
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore
from a2a.types.a2a_pb2 import (
    AgentCapabilities,
    AgentCard,
    AgentInterface,
    AgentSkill,
    ListTasksRequest,
    ListTasksResponse,
    Message,
    Part,
    Role,
    SendMessageRequest,
    TaskState,
    TaskStatus,
    TaskStatusUpdateEvent,
)
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.types import Message as Sent

from tests.e2e.wire.agents import Script, Scripted, Stage
from utils.testing.live_server import loopback_socket, running

Change = Callable[[Any], Any]
"""Changes a JSON value that the server sends."""

LEAK = (
    'Traceback (most recent call last):\n  File "/srv/app.py", line 7, in run\nRuntimeError: password=hunter2'
)


class Rewriting:
    """Changes each JSON body and each event of a stream."""

    def __init__(self, app: ASGIApp, change: Change) -> None:
        self._app, self._change = app, change

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        start: list[Sent] = []

        async def changed(message: Sent) -> None:
            if message["type"] == "http.response.start":
                start.append(message)
                return
            body = self._rewritten(message.get("body", b""))
            for first in start:
                headers = [pair for pair in first["headers"] if pair[0] != b"content-length"]
                await send({**first, "headers": headers})
            start.clear()
            await send({**message, "body": body})

        await self._app(scope, receive, changed if scope["type"] == "http" else send)

    def _rewritten(self, body: bytes) -> bytes:
        if not body.startswith(b"data:"):
            return self._json(body)
        lines = body.decode().splitlines(keepends=True)
        return b"".join(
            b"data: " + self._json(line[5:].encode()) + b"\r\n" if line.startswith("data:") else line.encode()
            for line in lines
        )

    def _json(self, body: bytes) -> bytes:
        try:
            return json.dumps(self._change(json.loads(body))).encode()
        except ValueError:
            return body


def card(url: str) -> AgentCard:
    return AgentCard(
        name="Foreign",
        description="Somebody else's.",
        version="1.0.0",
        supported_interfaces=[AgentInterface(url=url, protocol_binding="JSONRPC", protocol_version="1.0")],
        capabilities=AgentCapabilities(streaming=True),
        default_input_modes=["text/plain"],
        default_output_modes=["text/plain"],
        skills=[AgentSkill(id="s", name="S", description="Something.", tags=["s"])],
    )


@asynccontextmanager
async def defective(
    script: Script,
    *,
    shown: Callable[[str], AgentCard] = card,
    handler_class: type[DefaultRequestHandler] = DefaultRequestHandler,
    change: Change | None = None,
) -> AsyncIterator[str]:
    """A bare server of the SDK."""
    listener = loopback_socket()
    described = shown(f"http://127.0.0.1:{listener.getsockname()[1]}")
    handler = handler_class(Scripted(script), InMemoryTaskStore(), described)
    routes = [*create_agent_card_routes(described), *create_jsonrpc_routes(handler, "/")]
    middleware = [Middleware(Rewriting, change=change)] if change else []
    async with running(Starlette(routes=routes, middleware=middleware), listener=listener) as url:
        yield url


def message(stage: Stage, text: str, role: Role = Role.ROLE_AGENT) -> Message:
    return Message(
        message_id=f"m-{text[:8]}",
        role=role,
        parts=[Part(text=text)],
        task_id=stage.context.task_id,
        context_id=stage.context.context_id,
    )


async def say(stage: Stage, state: TaskState, text: str, role: Role = Role.ROLE_AGENT) -> None:
    status = TaskStatus(state=state, message=message(stage, text, role))
    await stage.queue.enqueue_event(
        TaskStatusUpdateEvent(
            task_id=stage.context.task_id, context_id=stage.context.context_id, status=status
        )
    )


async def works(stage: Stage) -> None:
    """An agent without a defect, which says what it does and answers in chunks."""
    await stage.task()
    await say(stage, TaskState.TASK_STATE_WORKING, "Thinking.")
    await stage.chunk("Hello ", append=False)
    await stage.chunk("there.", last=True)
    await stage.status(TaskState.TASK_STATE_COMPLETED)


async def fails_with_a_traceback(stage: Stage) -> None:
    await stage.task()
    await say(stage, TaskState.TASK_STATE_FAILED, LEAK)


async def fails_politely(stage: Stage) -> None:
    await stage.task()
    await say(
        stage, TaskState.TASK_STATE_FAILED, "The printer is out of paper. Reset your password: see the wiki."
    )


async def marks_no_last_chunk(stage: Stage) -> None:
    await stage.task()
    await stage.chunk("Hello ", append=False)
    await stage.chunk("there.")
    await stage.status(TaskState.TASK_STATE_COMPLETED)


async def speaks_as_the_user(stage: Stage) -> None:
    await stage.task()
    await say(stage, TaskState.TASK_STATE_WORKING, "Thinking.", Role.ROLE_USER)
    await stage.status(TaskState.TASK_STATE_COMPLETED)


class StartsUnknownTasks(DefaultRequestHandler):
    """Takes a task id that the client made up for that of a new task."""

    async def on_message_send(self, params: SendMessageRequest, context: ServerCallContext) -> Any:
        if await self.task_store.get(params.message.task_id, context) is None:
            params.message.task_id = ""
        return await super().on_message_send(params, context)


class ListsAllContexts(DefaultRequestHandler):
    """Ignores the context that a list is asked for."""

    async def on_list_tasks(self, params: ListTasksRequest, context: ServerCallContext) -> ListTasksResponse:
        params.context_id = ""
        listed: ListTasksResponse = await super().on_list_tasks(params, context)
        return listed


class ListsAllTasks(DefaultRequestHandler):
    """Ignores the size of a page."""

    async def on_list_tasks(self, params: ListTasksRequest, context: ServerCallContext) -> ListTasksResponse:
        params.page_size = 100
        listed: ListTasksResponse = await super().on_list_tasks(params, context)
        return listed


def second_interface_at_nobody(url: str) -> AgentCard:
    described = card(url)
    described.supported_interfaces.add(
        url="http://127.0.0.1:1", protocol_binding="HTTP+JSON", protocol_version="1.0"
    )
    return described


def skill_without_tags(url: str) -> AgentCard:
    described = card(url)
    described.skills[0].ClearField("tags")
    return described


def leak_in(code: int) -> Change:
    """Puts the text of an exception into one kind of error."""

    def change(value: Any) -> Any:
        if isinstance(value, dict) and value.get("error", {}).get("code") == code:
            value["error"]["message"] = LEAK
        return value

    return change


def without_total_size(value: Any) -> Any:
    if isinstance(value, dict) and isinstance(value.get("result"), dict):
        value["result"].pop("totalSize", None)
    return value


def own_rpc_id(value: Any) -> Any:
    return {**value, "id": "1"} if isinstance(value, dict) and "jsonrpc" in value else value


def states_of_0_3(value: Any) -> Any:
    """`completed` in place of `TASK_STATE_COMPLETED` in tasks that are asked for."""
    result = value.get("result") if isinstance(value, dict) else None
    if isinstance(result, dict) and "status" in result:
        state = result["status"]["state"]
        result["status"]["state"] = state.removeprefix("TASK_STATE_").lower()
    return value


def snake_case(value: Any) -> Any:
    result = value.get("result") if isinstance(value, dict) else None
    if isinstance(result, dict) and "contextId" in result:
        result["context_id"] = result.pop("contextId")
    return value
