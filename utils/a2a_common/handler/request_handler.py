"""The SDK's request handler, extended with admission, idempotency and pending input."""

from __future__ import annotations

import logging
import sys
import warnings
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing, contextmanager
from typing import Any

import structlog
from a2a.server.agent_execution import RequestContext, SimpleRequestContextBuilder
from a2a.server.cluster.version import TaskVersion
from a2a.server.context import ServerCallContext
from a2a.server.events.event_queue import Event
from a2a.server.request_handlers import DefaultRequestHandlerV2, default_request_handler_v2
from a2a.types.a2a_pb2 import (
    AgentCard,
    CancelTaskRequest,
    GetExtendedAgentCardRequest,
    GetTaskRequest,
    ListTasksRequest,
    ListTasksResponse,
    Message,
    SendMessageRequest,
    SubscribeToTaskRequest,
    Task,
    TaskArtifactUpdateEvent,
    TaskStatusUpdateEvent,
)
from a2a.utils.errors import InvalidRequestError, TaskNotFoundError, UnsupportedOperationError
from a2a.utils.task import apply_history_length

from utils.a2a_common.execution.guarded_executor import GuardedExecutor
from utils.a2a_common.handler.active_tasks import TidyRegistry
from utils.a2a_common.handler.admission import Admission
from utils.a2a_common.handler.idempotency import new_task_id
from utils.a2a_common.handler.pending_input import PendingInputPolicy, PendingInputRouter
from utils.a2a_common.handler.safe_errors import FellBehind
from utils.a2a_common.protocol.json_values import complaint_about
from utils.a2a_common.protocol.output_modes import check_output_modes
from utils.a2a_common.protocol.owner import owner_of
from utils.a2a_common.tasks.storage_failure import end_by_storage
from utils.a2a_common.tasks.turns import Turns
from utils.errors import StorageError
from utils.observability import catalogue
from utils.observability.metrics import held
from utils.persistence.task_states import OPEN, TERMINAL
from utils.persistence.tasks import ChunkedTaskStore
from utils.persistence.unreadable import UNREADABLE, stand_in

log = structlog.get_logger(__name__)


@contextmanager
def single_process() -> Iterator[None]:
    """Keep the SDK from warning that a versioned store without an event stream serves one process: it does."""
    logger = logging.getLogger(default_request_handler_v2.__name__)
    disabled, logger.disabled = logger.disabled, True
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            yield
    finally:
        logger.disabled = disabled


class ContextFromTask(SimpleRequestContextBuilder):
    """Infers the context id of a follow-up from its task; the SDK would invent a new one."""

    def __init__(self, store: ChunkedTaskStore) -> None:
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
        if params is not None and not task_id:
            task_id = new_task_id(owner_of(context), params.message)
        elif task_id and not context_id:
            known = await self._tasks.get(task_id, context)
            context_id = known.task.context_id if known else None
        return await super().build(context, params, task_id, context_id, task)


class PlatformRequestHandler(DefaultRequestHandlerV2):
    """Refuses what an agent cannot answer, and what would be lost."""

    def __init__(
        self,
        *,
        store: ChunkedTaskStore,
        turns: Turns,
        agent_executor: GuardedExecutor,
        pending_input: PendingInputPolicy,
        takes_files: bool = False,
        **options: Any,
    ) -> None:
        with single_process():
            super().__init__(
                task_store=store,
                request_context_builder=ContextFromTask(store),
                agent_executor=agent_executor,
                **options,
            )
        self._active_task_registry = TidyRegistry(
            agent_executor=agent_executor,
            task_store=store,
            push_sender=self._push_sender,
            event_stream=self._event_stream,
            interrupted_task_timeout=options.get("interrupted_task_timeout"),
        )
        self._pending_input = pending_input
        self._tasks = store
        store.on_lost = end_by_storage
        router = PendingInputRouter(store, turns, policy=pending_input, cancel=self._cancel_pending)
        self._admission = Admission(store, turns, router, card=self._agent_card, takes_files=takes_files)

    async def on_message_send(self, params: SendMessageRequest, context: ServerCallContext) -> Message | Task:
        """Answer a message with its task, when the turn ends or at once when asked to."""
        check_output_modes(params, self._agent_card)
        admitted = await self._admission.admit(params, context)
        if admitted.repeated:
            return await self._once_more(admitted.task_id, params, context)
        try:
            answer: Message | Task = await super().on_message_send(params, context)
        except StorageError as error:
            answer = await self._ended_by(error, admitted.task_id, context)
        finally:
            self._admission.release(admitted)
        return await self._whole(answer) if isinstance(answer, Task) else answer

    async def on_message_send_stream(
        self, params: SendMessageRequest, context: ServerCallContext
    ) -> AsyncGenerator[Event, None]:
        """Answer a message with its events."""
        check_output_modes(params, self._agent_card)
        admitted = await self._admission.admit(params, context)
        if admitted.repeated:
            async with aclosing(self._followed(admitted.task_id, params, context)) as events:
                async for event in events:
                    yield event
            return
        try:
            async with aclosing(super().on_message_send_stream(params, context)) as events:
                async for event in self._to_its_end(events, admitted.task_id, context):
                    yield await self._whole(event) if isinstance(event, Task) else event
        finally:
            self._admission.release(admitted)

    async def _ended_by(self, error: StorageError, task_id: str, context: ServerCallContext) -> Task:
        """The task that a failure of the storage ended.

        Raises:
            StorageError: There is no task yet, or it goes on.
        """
        stored = await self._tasks.get(task_id, context)
        if stored is None or stored.task.status.state not in TERMINAL:
            raise error
        return stored.task

    async def _once_more(self, task_id: str, params: SendMessageRequest, context: ServerCallContext) -> Task:
        """The task of a message that was sent before, at its end unless it was asked for at once."""
        if not params.configuration.return_immediately:
            async with aclosing(self._followed(task_id, params, context)) as events:
                async for _ in events:
                    pass
        stored = await self._tasks.get(task_id, context)
        if stored is None:
            raise TaskNotFoundError
        return apply_history_length(await self._whole(stored.task), params.configuration)

    async def _followed(
        self, task_id: str, params: SendMessageRequest, context: ServerCallContext
    ) -> AsyncGenerator[Event, None]:
        """The task as it stands, and then its events where it still works."""
        stored = await self._tasks.get(task_id, context)
        if stored is None:
            raise TaskNotFoundError
        if self._admission.settled(stored.task, params.message.message_id):
            yield await self._whole(stored.task)
            return
        request = SubscribeToTaskRequest(id=task_id)
        try:
            async with aclosing(self.on_subscribe_to_task(request, context)) as events:
                async for event in events:
                    yield event
        except UnsupportedOperationError:  # it ended between the look and the subscription
            ended = await self._tasks.get(task_id, context)
            if ended is None or ended.task.status.state not in TERMINAL:
                raise
            yield await self._whole(ended.task)

    async def on_get_task(self, params: GetTaskRequest, context: ServerCallContext) -> Task | None:
        """A task with its artifacts."""
        task: Task | None = await super().on_get_task(params, context)
        return await self._whole(task) if task is not None else None

    async def on_list_tasks(self, params: ListTasksRequest, context: ServerCallContext) -> ListTasksResponse:
        """A page of tasks; a stand-in for each that would break the answer."""
        page: ListTasksResponse = await super().on_list_tasks(params, context)
        for task in page.tasks:
            complaint = complaint_about(task)
            if complaint is not None:
                self._tasks.unreadable.note(task.id, complaint)
                task.CopyFrom(stand_in(task.id, task.context_id, task.status))
        return page

    async def on_cancel_task(self, params: CancelTaskRequest, context: ServerCallContext) -> Task | None:
        """Cancel a task and answer with what it had until then."""
        try:
            task: Task | None = await super().on_cancel_task(params, context)
        except StorageError as error:
            task = await self._ended_by(error, params.id, context)
        return await self._whole(task) if task is not None else None

    async def _cancel_pending(self, task_id: str, context: ServerCallContext) -> None:
        await self.on_cancel_task(CancelTaskRequest(id=task_id), context)

    async def _cancel_remote(
        self, task_id: str, task: Task, version: TaskVersion, context: ServerCallContext
    ) -> Task:
        """Cancel a task that waits for its user and that no process holds any more."""
        try:
            await self._pending_input.cancel_children(task_id)
        except Exception:  # a hook of an agent: where it fails, the task is canceled all the same
            log.exception("cancel.children_failed", task_id=task_id)
        canceled: Task = await super()._cancel_remote(task_id, task, version, context)
        return canceled

    async def on_subscribe_to_task(
        self, params: SubscribeToTaskRequest, context: ServerCallContext
    ) -> AsyncGenerator[Event, None]:
        """A task as it stands, and then its events; a chunk of the snapshot does not come again."""
        last = 0
        async with aclosing(super().on_subscribe_to_task(params, context)) as events:
            async for event in self._to_its_end(events, params.id, context):
                if isinstance(event, Task):
                    snapshot, last = await self._snapshot(event)
                    yield snapshot
                elif not (isinstance(event, TaskArtifactUpdateEvent) and self._stored(event) <= last):
                    yield event

    async def _to_its_end(
        self, events: AsyncGenerator[Event, None], task_id: str, context: ServerCallContext
    ) -> AsyncGenerator[Event, None]:
        """Yield `events` up to the end of the task, and the task itself where they stop before.

        The SDK drops a reader that is 1024 events behind, and ends its stream as if all were said.

        Raises:
            FellBehind: The task goes on, but this stream does not.
        """
        state = None  # read at once: the SDK's task is a live one
        try:
            with held(catalogue.STREAMS):
                async for event in events:
                    if isinstance(event, Task | TaskStatusUpdateEvent):
                        state = event.status.state
                    yield event
                    if state in TERMINAL:
                        return
        except StorageError as error:
            end = await self._ended_by(error, task_id, context)
            yield TaskStatusUpdateEvent(
                task_id=task_id, context_id=end.context_id, status=end.status, metadata=end.metadata
            )
            return
        if state not in OPEN:
            return
        stored = await self._tasks.get(task_id, context)
        if stored is None or stored.task.status.state in OPEN:
            raise FellBehind
        yield stored.task

    def _stored(self, event: Event) -> int:
        return self._tasks.sequence_of(event) or sys.maxsize

    async def _whole(self, task: Task) -> Task:
        full, _ = await self._snapshot(task)
        return full

    async def _snapshot(self, task: Task) -> tuple[Task, int]:
        """A task as it is told, and the sequence of its last chunk.

        Raises:
            UnsupportedOperationError: It was stored before its values were checked, and cannot be told.
        """
        full, last = await self._tasks.whole(task)
        complaint = complaint_about(full)
        if complaint is not None:
            self._tasks.unreadable.note(task.id, complaint)
            raise UnsupportedOperationError(UNREADABLE)
        return full, last

    async def on_get_extended_agent_card(
        self, params: GetExtendedAgentCardRequest, context: ServerCallContext
    ) -> AgentCard:
        """The extended card, for authenticated callers only, of an agent that announces one."""
        announced = self._agent_card.capabilities.extended_agent_card
        if announced and not context.user.is_authenticated:
            raise InvalidRequestError("The extended card is for authenticated callers. Send credentials.")
        extended: AgentCard = await super().on_get_extended_agent_card(params, context)
        return extended
