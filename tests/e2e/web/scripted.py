"""An agent with the page that plays what the request names, served from a thread of its own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractContextManager, asynccontextmanager
from typing import Any

from a2a.helpers.proto_helpers import new_task_from_user_message
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events.event_queue import EventQueue
from a2a.types.a2a_pb2 import AgentCard, TaskArtifactUpdateEvent, TaskStatusUpdateEvent
from google.protobuf.json_format import ParseDict

from tests.e2e.web.threaded import in_thread
from tests.e2e.wire.agents import card
from tests.support.task_logs import memory_log
from utils.a2a_common.protocol.extensions import ACTIVITY_EXTENSION
from utils.a2a_common.server.agent_service import AgentService
from utils.a2a_common.server.app import build_app
from utils.settings import ServerSettings
from utils.testing.live_server import running


class Part:
    """What a script says, and what it waits for."""

    def __init__(self, agent: Playing, context: RequestContext, queue: EventQueue) -> None:
        self.agent = agent
        self.context = context
        self.queue = queue

    @property
    def said(self) -> str:
        return self.context.get_user_input()

    @property
    def _ids(self) -> dict[str, Any]:
        return {"taskId": self.context.task_id, "contextId": self.context.context_id}

    async def begin(self) -> None:
        if self.context.current_task is None:
            assert self.context.message is not None
            await self.queue.enqueue_event(new_task_from_user_message(self.context.message))
        await self.status("WORKING")

    async def status(
        self,
        state: str,
        metadata: Mapping[str, Any] | None = None,
        parts: list[dict[str, Any]] | None = None,
        about: Mapping[str, Any] | None = None,
    ) -> None:
        status: dict[str, Any] = {"state": f"TASK_STATE_{state}"}
        if parts:
            status["message"] = {"messageId": f"m-{id(parts)}", "role": "ROLE_AGENT", "parts": parts}
            status["message"]["metadata"] = dict(about or {})
        event = {**self._ids, "status": status, "metadata": dict(metadata or {})}
        await self.queue.enqueue_event(ParseDict(event, TaskStatusUpdateEvent()))

    async def activity(self, **payload: Any) -> None:
        await self.status("WORKING", {ACTIVITY_EXTENSION: payload})

    async def artifact(self, *parts: dict[str, Any], name: str = "response", append: bool = False) -> None:
        artifact = {"artifactId": name, "name": name, "parts": list(parts)}
        event = {**self._ids, "artifact": artifact, "append": append}
        await self.queue.enqueue_event(ParseDict(event, TaskArtifactUpdateEvent()))

    async def say(self, text: str, *, append: bool = False) -> None:
        await self.artifact({"text": text, "mediaType": "text/markdown"}, append=append)

    async def gate(self) -> None:
        """Go on when the test says so."""
        await self.agent.gate.wait()


Script = Callable[[Part], Awaitable[None]]


class Playing(AgentExecutor):
    """Plays the script that the first word of a request names; an answer to a question goes to the same."""

    def __init__(self, scripts: Mapping[str, Script]) -> None:
        self._scripts = scripts
        self._playing: dict[str, str] = {}
        self.gate = asyncio.Event()
        self.answers: list[Any] = []

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        said = context.get_user_input().split(" ")[0]
        name = self._playing.setdefault(context.task_id or "", said)
        await self._scripts[name](Part(self, context, event_queue))

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        """The engine tells how the task ended."""


class ServedPage:
    """Where the agent is, and its gate."""

    def __init__(self, url: str, agent: Playing, loop: asyncio.AbstractEventLoop) -> None:
        self.url = url
        self.agent = agent
        self._loop = loop

    def open_gate(self) -> None:
        self._loop.call_soon_threadsafe(self.agent.gate.set)

    def close_gate(self) -> None:
        self._loop.call_soon_threadsafe(self.agent.gate.clear)


def serving_page(
    scripts: Mapping[str, Script], shown: AgentCard | None = None
) -> AbstractContextManager[ServedPage]:
    return in_thread(lambda: _served(scripts, shown))


@asynccontextmanager
async def _served(scripts: Mapping[str, Script], shown: AgentCard | None) -> AsyncIterator[ServedPage]:
    agent = Playing(scripts)
    service = AgentService(
        card=shown or card(), executor=agent, log=memory_log(), page=True, takes_files=True
    )
    async with running(build_app(service, ServerSettings.load({}))) as url:
        yield ServedPage(url, agent, asyncio.get_running_loop())
