"""The SDK's request handler with what the protocol leaves to an application."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from a2a.server.agent_execution import RequestContext, SimpleRequestContextBuilder
from a2a.server.cluster.task_store import VersionedTaskStore
from a2a.server.context import ServerCallContext
from a2a.server.events.event_queue import Event
from a2a.server.request_handlers import DefaultRequestHandlerV2
from a2a.server.tasks import TaskStore
from a2a.types.a2a_pb2 import (
    AgentCard,
    GetExtendedAgentCardRequest,
    Message,
    SendMessageRequest,
    Task,
)
from a2a.utils.errors import InvalidRequestError, TaskNotFoundError, UnsupportedOperationError

from utils.a2a_common.guarded_queue import OPEN
from utils.a2a_common.message_rules import check_message
from utils.a2a_common.turns import Turns

Store = TaskStore | VersionedTaskStore


class ContextFromTask(SimpleRequestContextBuilder):
    """Infers the context id of a follow-up from its task; the SDK would invent a new one."""

    def __init__(self, store: Store) -> None:
        super().__init__()
        self._tasks = store

    async def build(
        self,
        context: ServerCallContext,
        params: SendMessageRequest | None = None,
        task_id: str | None = None,
        context_id: str | None = None,
        task: Task | None = None,
    ) -> RequestContext:
        """The context of one turn."""
        if task_id and not context_id:
            known = await stored_task(self._tasks, task_id, context)
            context_id = known.context_id if known else None
        return await super().build(context, params, task_id, context_id, task)


class PlatformRequestHandler(DefaultRequestHandlerV2):
    """Refuses what an agent cannot answer, and what would be lost."""

    def __init__(self, *, store: Store, turns: Turns, **options: Any) -> None:
        super().__init__(task_store=store, request_context_builder=ContextFromTask(store), **options)
        self._turns = turns

    async def on_message_send(self, params: SendMessageRequest, context: ServerCallContext) -> Message | Task:
        """Answer a message with its task, when the turn ends or at once when asked to."""
        task_id = await self._admit(params, context)
        try:
            answer: Message | Task = await super().on_message_send(params, context)
        finally:
            self._turns.abandon(task_id)
        return answer

    async def on_message_send_stream(
        self, params: SendMessageRequest, context: ServerCallContext
    ) -> AsyncGenerator[Event, None]:
        """Answer a message with its events."""
        task_id = await self._admit(params, context)
        try:
            async with aclosing(super().on_message_send_stream(params, context)) as events:
                async for event in events:
                    yield event
        finally:
            self._turns.abandon(task_id)

    async def on_get_extended_agent_card(
        self, params: GetExtendedAgentCardRequest, context: ServerCallContext
    ) -> AgentCard:
        """The extended card, for authenticated callers only."""
        if not context.user.is_authenticated:
            raise InvalidRequestError("The extended card is for authenticated callers. Send credentials.")
        extended: AgentCard = await super().on_get_extended_agent_card(params, context)
        return extended

    async def _admit(self, params: SendMessageRequest, context: ServerCallContext) -> str:
        check_message(params.message)
        task_id = params.message.task_id
        if not task_id:
            return ""
        task = await stored_task(self.task_store, task_id, context)
        if task is None:
            raise TaskNotFoundError
        if task.status.state in OPEN or not self._turns.reserve(task_id):
            raise UnsupportedOperationError("The task is working. Wait for its end, or cancel it.")
        return task_id


async def stored_task(store: Store, task_id: str, context: ServerCallContext) -> Task | None:
    """The task of this caller as stored, from either kind of store."""
    found = await store.get(task_id, context)
    return found if isinstance(found, Task) or found is None else found.task
