"""The request handlers that the suite of duties runs on: the SDK's, and ours."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import httpx
import pytest
from a2a.auth.user import User
from a2a.server.agent_execution import AgentExecutor
from a2a.server.context import ServerCallContext
from a2a.server.events.event_queue import Event
from a2a.server.request_handlers import DefaultRequestHandlerV2, RequestHandler
from a2a.server.tasks import (
    BasePushNotificationSender,
    InMemoryPushNotificationConfigStore,
    InMemoryTaskStore,
)
from a2a.types import a2a_pb2 as pb
from a2a.utils.errors import A2AError, InvalidParamsError, TaskNotFoundError

from tests.e2e.wire.agents import Script, Scripted, card
from tests.support.task_logs import memory_log
from utils.a2a_common.engine.local import LocalEngine
from utils.a2a_common.engine.turn_runner import TurnRunner
from utils.a2a_common.handler.handler_parts import HandlerParts
from utils.a2a_common.handler.pending_input import NoPendingInput
from utils.a2a_common.handler.request_handler import PlatformRequestHandler
from utils.a2a_common.handler.webhooks import Webhooks
from utils.a2a_common.server.push.delivery import PushPolicy
from utils.a2a_common.server.push.sender import PushSender
from utils.a2a_common.server.push.store import PushConfigs
from utils.persistence.runs import MemoryRuns

SECONDS = 30.0
"""Longest wait for anything; a handler that lets a caller wait for ever is found by it."""

DELIVERED_SECONDS = 1.0
"""Longest wait at the end for webhooks, of which nobody hears here."""

FORBIDDEN_URL = "http://forbidden.test/hook"


@dataclass(frozen=True)
class Parts:
    """What a handler is made of."""

    executor: AgentExecutor
    card: pb.AgentCard
    extended: pb.AgentCard | None


class Someone(User):
    """An authenticated caller."""

    def __init__(self, name: str) -> None:
        self._name = name

    @property
    def is_authenticated(self) -> bool:
        return True

    @property
    def user_name(self) -> str:
        return self._name


def called_by(name: str) -> ServerCallContext:
    return ServerCallContext(user=Someone(name))


async def _url_rule(url: str) -> None:
    if url == FORBIDDEN_URL:
        raise InvalidParamsError("This URL is forbidden.")


async def _is_allowed(url: str) -> bool:
    return url != FORBIDDEN_URL


@asynccontextmanager
async def _sdk(parts: Parts) -> AsyncIterator[RequestHandler]:
    configs = InMemoryPushNotificationConfigStore()
    async with httpx.AsyncClient(trust_env=False) as http:
        handler = DefaultRequestHandlerV2(
            agent_executor=parts.executor,
            task_store=InMemoryTaskStore(),
            agent_card=parts.card,
            push_config_store=configs,
            push_sender=BasePushNotificationSender(http, configs),
            push_url_validator=_is_allowed,
            extended_agent_card=parts.extended,
            validate_input_modes=True,
        )
        try:
            yield handler
        finally:
            await handler.aclose()


@asynccontextmanager
async def _ours(parts: Parts) -> AsyncIterator[RequestHandler]:
    log, configs = memory_log(), PushConfigs()
    engine = LocalEngine(log, MemoryRuns(), TurnRunner(parts.executor, log), max_turns=16, max_waiting=16)
    push = PushSender(log, configs, PushPolicy(allow_private=True), engine.has_turn)
    needs = HandlerParts(
        log=log,
        engine=engine,
        webhooks=Webhooks(log, configs, push, _url_rule),
        card=parts.card,
        extended_card=parts.extended,
        pending_input=NoPendingInput(),
    )
    try:
        yield PlatformRequestHandler(needs)
    finally:
        await engine.drain(0)
        await push.aclose(DELIVERED_SECONDS)
        await log.close()


Opener = Callable[[Parts], AbstractAsyncContextManager[RequestHandler]]
KINDS: dict[str, Opener] = {"sdk": _sdk, "ours": _ours}


def duty(*, sdk_breaks: str = "") -> pytest.MarkDecorator:
    """Run a test on both handlers; `sdk_breaks` says in one line why the SDK's does not pass."""
    broken = [pytest.mark.xfail(reason=sdk_breaks, strict=True)] if sdk_breaks else []
    return pytest.mark.parametrize("kind", [pytest.param("sdk", marks=broken), "ours"])


@dataclass
class Desk:
    """A handler with a word for each operation."""

    handler: RequestHandler
    agent: Scripted
    call: ServerCallContext = field(default_factory=lambda: called_by("ann"))

    def by(self, name: str) -> Desk:
        """The same handler, asked by somebody else."""
        return Desk(self.handler, self.agent, called_by(name))

    async def send(self, text: str = "hi", **fields: Any) -> Any:
        return await self.request(asking(text, **fields))

    async def request(self, request: pb.SendMessageRequest) -> Any:
        async with asyncio.timeout(SECONDS):
            return await self.handler.on_message_send(request, self.call)

    async def start(self, **fields: Any) -> pb.Task:
        """Send, and do not wait for the end."""
        task: pb.Task = await self.send(returned_at_once=True, **fields)
        return task

    def streaming(self, request: pb.SendMessageRequest) -> AsyncGenerator[Event, None]:
        return self.handler.on_message_send_stream(request, self.call)

    async def stream(self, text: str = "hi", **fields: Any) -> list[Event]:
        return await read(self.streaming(asking(text, **fields)))

    def following(self, task_id: str) -> AsyncGenerator[Event, None]:
        return self.handler.on_subscribe_to_task(pb.SubscribeToTaskRequest(id=task_id), self.call)

    async def get(self, task_id: str, **fields: Any) -> pb.Task:
        task = await self.handler.on_get_task(pb.GetTaskRequest(id=task_id, **fields), self.call)
        assert task is not None
        return task

    async def list(self, **fields: Any) -> list[pb.Task]:
        return list((await self.handler.on_list_tasks(pb.ListTasksRequest(**fields), self.call)).tasks)

    async def cancel(self, task_id: str) -> pb.Task:
        async with asyncio.timeout(SECONDS):
            task = await self.handler.on_cancel_task(pb.CancelTaskRequest(id=task_id), self.call)
        assert task is not None
        return task

    async def reached(self, task_id: str, state: pb.TaskState) -> pb.Task:
        """The task, once it is stored in this state."""
        async with asyncio.timeout(SECONDS):
            while True:
                with contextlib.suppress(TaskNotFoundError):
                    if (task := await self.get(task_id)).status.state == state:
                        return task
                await asyncio.sleep(0)


@asynccontextmanager
async def opened(
    kind: str,
    script: Script,
    *,
    agent: Scripted | None = None,
    shown: pb.AgentCard | None = None,
    extended: pb.AgentCard | None = None,
) -> AsyncIterator[Desk]:
    """One of the handlers over an agent that plays `script`, or over `agent`."""
    agent = agent or Scripted(script)
    async with KINDS[kind](Parts(agent, shown or card(), extended)) as handler:
        yield Desk(handler, agent)


def asking(
    text: str = "hi", *, returned_at_once: bool = False, history: int | None = None, **fields: Any
) -> pb.SendMessageRequest:
    """A message with one part of text; `fields` are the message's."""
    fields = {"message_id": str(uuid4()), "role": pb.Role.ROLE_USER, "parts": [pb.Part(text=text)], **fields}
    configuration = pb.SendMessageConfiguration(return_immediately=returned_at_once, history_length=history)
    return pb.SendMessageRequest(message=pb.Message(**fields), configuration=configuration)


async def read(events: AsyncGenerator[Event, None]) -> list[Event]:
    """All events, each a copy as it was when it came."""
    async with asyncio.timeout(SECONDS):
        return [_copied(event) async for event in events]


async def read_on(events: AsyncGenerator[Event, None]) -> list[Event]:
    """All events up to the end, or up to an error that the handler answers with instead of one."""
    told: list[Event] = []
    try:
        async with asyncio.timeout(SECONDS):
            async for event in events:
                told.append(_copied(event))
    except A2AError:
        return told
    return told


def _copied(event: Event) -> Event:
    copy: Any = type(event)()
    copy.CopyFrom(event)
    made: Event = copy
    return made


async def ended(answer: Awaitable[Any]) -> None:
    """Wait for an answer, which may be an error."""
    try:
        await answer
    except TimeoutError:
        raise
    except Exception:
        return


def states(events: list[Event]) -> list[pb.TaskState]:
    """The states that the events name, in order."""
    return [event.status.state for event in events if isinstance(event, pb.Task | pb.TaskStatusUpdateEvent)]


def texts(task: pb.Task) -> list[str]:
    """The texts of a task's artifacts, each joined."""
    return ["".join(part.text for part in artifact.parts) for artifact in task.artifacts]


def said(task: pb.Task) -> list[str]:
    """The texts of a task's history."""
    return ["".join(part.text for part in message.parts) for message in task.history]
