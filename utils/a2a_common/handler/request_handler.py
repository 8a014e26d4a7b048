"""`PlatformRequestHandler`: answers every operation of the protocol from the task log, and gives turns to the engine."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, replace

from a2a.server.context import ServerCallContext
from a2a.server.events.event_queue import Event
from a2a.server.id_generator import IDGeneratorContext
from a2a.server.request_handlers import RequestHandler
from a2a.types import a2a_pb2 as pb
from a2a.utils.errors import (
    ExtendedAgentCardNotConfiguredError,
    UnsupportedOperationError,
)
from a2a.utils.task import apply_history_length, validate_history_length, validate_page_size

from utils.a2a_common.engine.unfinished_turns import RESTART_SECONDS
from utils.a2a_common.handler import capabilities
from utils.a2a_common.handler.admission import Admission, Admitted, has_received
from utils.a2a_common.handler.callers import principal_in
from utils.a2a_common.handler.handler_parts import HandlerParts
from utils.a2a_common.handler.operation import CANCEL, operation
from utils.a2a_common.handler.pending_input import PendingInputRouter
from utils.a2a_common.handler.task_reader import TaskReader
from utils.a2a_common.handler.webhook_pages import default_of
from utils.a2a_common.protocol.not_stored import refused_unstored
from utils.a2a_common.protocol.owner import owner_of
from utils.a2a_common.protocol.retry_later import perhaps_taken
from utils.a2a_common.protocol.version import LEGACY, version_of
from utils.a2a_common.tasks.entries import Suspended
from utils.a2a_common.tasks.states import INTERRUPTED, TERMINAL
from utils.a2a_common.tasks.transitions import join_history
from utils.a2a_common.tasks.turn import Turn, turn_of
from utils.auth.credential import take_credential
from utils.errors import Draining, TaskBusy
from utils.observability import catalogue
from utils.observability.metrics import held


@dataclass(frozen=True, slots=True)
class Course:
    """A subscription: the events of a task after a given one.

    Attributes:
        task_id: The task.
        owner: Key of the caller.
        after: Number of the last event that is not sent.
        task: Sent first: the task as it was at `after`; `None` for a turn of this call.
        ended: Whether no events follow `task`.
        trusted: Whether the caller began the task, and gets the secrets of its questions.
        resumed: The task that the message of this call answers, as it was before: without artifacts, with the message in its history.
    """

    task_id: str
    owner: str
    after: int = 0
    task: pb.Task | None = None
    ended: bool = False
    trusted: bool = False
    resumed: pb.Task | None = None

    @property
    def webhook_after(self) -> int:
        """The last event that is not sent to the webhook of a repeated message; an open question is sent."""
        waits = self.task is not None and self.task.status.state in INTERRUPTED
        return max(0, self.after - 1) if waits else self.after


class PlatformRequestHandler(RequestHandler):
    """The handler of one agent. It holds no state of a request: that is in the log.

    Args:
        parts: What it works with.

    Attributes:
        card: The public card.
        limits: The limits of one caller.
    """

    def __init__(self, parts: HandlerParts) -> None:
        self.limits, self.card = parts.limits, parts.card
        self._parts = parts
        self._log, self._engine, self._webhooks = parts.log, parts.engine, parts.webhooks
        self._tasks = TaskReader(parts.log)
        router = PendingInputRouter(parts.log, parts.engine, parts.pending_input)
        self._admission = Admission(
            parts.log, parts.engine, router, parts.consent, card=parts.card, takes_files=parts.takes_files
        )

    @operation("SendMessage")
    async def on_message_send(
        self, params: pb.SendMessageRequest, context: ServerCallContext
    ) -> pb.Task | pb.Message:
        """Answer a message with its task, when the turn ends or with its first event when asked to."""
        if (answer := await self._first_answer(params.message, context)) is not None:
            return answer
        course = await self._begin(params, context)
        with perhaps_taken(course.task_id):
            return await self._answer(course, params.configuration)

    async def _answer(
        self, course: Course, configuration: pb.SendMessageConfiguration
    ) -> pb.Task | pb.Message:
        """The task of a course once its turn ends, or as soon as there is one; or the message that is the answer without a task."""
        at_once = configuration.return_immediately
        if course.task is None or not (course.ended or at_once):
            async with aclosing(self._log.read(course.task_id, course.owner, after=course.after)) as entries:
                try:
                    async for entry in entries:
                        if isinstance(entry.event, pb.Message):
                            return entry.event
                        if at_once:
                            break
                except Suspended:
                    raise Draining(RESTART_SECONDS) from None
        whole = await self._tasks.snapshot(course.task_id, course.owner)
        shown = self._parts.consent.with_nonce(whole.task) if course.trusted else whole.task
        return apply_history_length(shown, configuration)

    @operation("SendStreamingMessage", announced=capabilities.streaming)
    async def on_message_send_stream(
        self, params: pb.SendMessageRequest, context: ServerCallContext
    ) -> AsyncGenerator[Event, None]:
        """Answer a message with its events."""
        if (answer := await self._first_answer(params.message, context)) is not None:
            yield answer
            return
        course = await self._begin(params, context)
        task_id, stream = course.task_id, self._events(course)
        del course  # it may hold a complete task
        with perhaps_taken(task_id):
            async with aclosing(stream) as events:
                async for event in events:
                    if isinstance(event, pb.Task):
                        yield apply_history_length(event, params.configuration)
                    else:
                        yield event
                    del event

    @operation("SubscribeToTask", announced=capabilities.streaming)
    async def on_subscribe_to_task(
        self, params: pb.SubscribeToTaskRequest, context: ServerCallContext
    ) -> AsyncGenerator[Event, None]:
        """The current task, then its later events; what the task contains already is not repeated."""
        owner = owner_of(context)
        if (await self._tasks.head(params.id, owner)).status.state in TERMINAL:
            raise UnsupportedOperationError(
                "The task has ended, so there are no more events. Read it with GetTask."
            )
        async with aclosing(self._events(await self._as_it_is(params.id, owner))) as events:
            async for event in events:
                yield event
                del event

    async def _first_answer(self, message: pb.Message, call: ServerCallContext) -> pb.Message | None:
        """The first answer that an extension has; without one the message is for a turn."""
        for each in self._parts.answers:
            if (answer := await each.answer(message, call)) is not None:
                return answer
        return None

    async def _begin(self, params: pb.SendMessageRequest, call: ServerCallContext) -> Course:
        """Submit the turn of a message, unless it has been submitted before.

        1. Its task is found and held, or it is refused: `Admission`.
        2. The agent prepares for the turn, as the supervisor's `Access` with tokens for its sub-agents.
        3. The turn is made, if there is room for it, without credentials: `turn_of`.
        4. Its webhook is checked; the engine takes the turn; the webhook is stored: `Webhooks`.

        Raises:
            A2AError: The message is refused.
            RetryLater: No turn is taken now.
            NotStored: The turn cannot be stored.
            StorageAway: The same, for a moment.
            PerhapsTakenError: The turn was stored, and its webhook cannot be.
        """
        credential = take_credential(call.state)
        async with self._admission.admit(params, call) as admitted:
            owner = owner_of(call)
            if admitted.repeated:
                return await self._again(params, admitted, call)
            after, resumed = 0, None
            if admitted.waits:
                whole = await self._tasks.snapshot(admitted.task_id, owner)
                if has_received(whole.task, params.message):  # by another replica, since it was admitted
                    return await self._again(params, admitted, call)
                after, resumed = whole.sequence, whole.task
            await self._parts.room.check(params)
            if self._parts.preparation is not None:
                with refused_unstored():
                    await self._parts.preparation.prepare(admitted.task_id, principal_in(call), credential)
            turn = await self._submit(params, call, admitted, after)
            if resumed is not None:
                resumed.ClearField("artifacts")  # up to 3 MB, which the caller has received before
                join_history(resumed, turn.request.message)
            trusted = (
                admitted.trusted and not call.user.is_authenticated
            )  # otherwise the credentials prove it
            return Course(admitted.task_id, owner, after, trusted=trusted, resumed=resumed)

    async def _again(
        self, params: pb.SendMessageRequest, admitted: Admitted, call: ServerCallContext
    ) -> Course:
        """Answer a message that was sent before with its task as it is."""
        course = await self._as_it_is(admitted.task_id, owner_of(call))
        if course.task is None or course.task.status.state not in TERMINAL:
            await self._webhooks.add(params.configuration, admitted.task_id, call, after=course.webhook_after)
        return course

    async def _submit(
        self, params: pb.SendMessageRequest, call: ServerCallContext, admitted: Admitted, after: int
    ) -> Turn:
        task_id = admitted.task_id
        context_id = admitted.context_id or self._parts.ids.generate(IDGeneratorContext(task_id=task_id))
        now, asked = self._parts.clock(), admitted.question
        turn = turn_of(params, call, task_id=task_id, context_id=context_id, now=now, question=asked)
        await self._webhooks.check(params.configuration, task_id, call)
        accepting = asyncio.ensure_future(self._accept(turn, call, params.configuration, after))
        accepting.add_done_callback(_retrieve_error)
        await asyncio.shield(accepting)
        return turn

    async def _accept(
        self, turn: Turn, call: ServerCallContext, configuration: pb.SendMessageConfiguration, after: int
    ) -> None:
        """Submit a turn and store its webhook; both, also where the caller goes away meanwhile."""
        try:
            with refused_unstored():
                await self._engine.submit(turn, call)
        except TaskBusy as error:
            raise UnsupportedOperationError(error.message) from None
        with perhaps_taken(turn.task_id):
            await self._webhooks.store(configuration, turn.task_id, call, after=after)

    async def _as_it_is(self, task_id: str, owner: str) -> Course:
        """The task as it is shown to a caller who did not begin its turn."""
        goes_on = await self._engine.has_turn(task_id, owner)
        if goes_on and await self._log.head(task_id, owner) is None:
            return Course(task_id, owner)
        whole = await self._tasks.snapshot(task_id, owner)
        goes_on = goes_on or await self._engine.has_turn(task_id, owner)  # a turn may have begun meanwhile
        ended = whole.task.status.state in TERMINAL or not goes_on
        return Course(task_id, owner, whole.sequence, whole.task, ended)

    async def _events(self, course: Course) -> AsyncGenerator[Event, None]:
        """The task of a course, and the events after it. A turn that continues in another process ends it early.

        Raises:
            Draining: It does, and no event tells the caller to subscribe again.
        """
        with held(catalogue.STREAMS):
            if (task := course.task) is not None:
                course = replace(
                    course, task=None
                )  # a complete task is not held for as long as the stream is open
                yield task
            del task
            if course.ended:
                return
            resumed = course.resumed
            reading = self._log.read(course.task_id, course.owner, after=course.after, stream=True)
            async with aclosing(reading) as entries:
                try:
                    async for entry in entries:
                        if resumed is not None:
                            yield _taken_up(resumed, entry.event)
                            resumed = None
                        yield self._parts.consent.with_nonce(entry.event) if course.trusted else entry.event
                except Suspended as suspended:
                    if not suspended.announced:
                        raise Draining(RESTART_SECONDS) from None

    @operation("GetTask")
    async def on_get_task(self, params: pb.GetTaskRequest, context: ServerCallContext) -> pb.Task | None:
        """A task with its artifacts."""
        validate_history_length(params)
        whole = await self._tasks.snapshot(params.id, owner_of(context))
        return apply_history_length(whole.task, params)

    @operation("ListTasks")
    async def on_list_tasks(
        self, params: pb.ListTasksRequest, context: ServerCallContext
    ) -> pb.ListTasksResponse:
        """A page of tasks, with their artifacts if requested."""
        validate_history_length(params)
        if params.HasField("page_size"):
            validate_page_size(params.page_size)
        page = await self._log.page(params, owner_of(context))
        self._tasks.with_stand_ins(page)
        return page

    @operation(CANCEL)
    async def on_cancel_task(
        self, params: pb.CancelTaskRequest, context: ServerCallContext
    ) -> pb.Task | None:
        """Cancel a task and answer with what it had until then."""
        owner = owner_of(context)
        await self._engine.cancel(params.id, owner, context)
        return (await self._tasks.snapshot(params.id, owner)).task

    @operation("CreateTaskPushNotificationConfig", announced=capabilities.push)
    async def on_create_task_push_notification_config(
        self, params: pb.TaskPushNotificationConfig, context: ServerCallContext
    ) -> pb.TaskPushNotificationConfig:
        """Store a webhook of a task."""
        return await self._webhooks.create(params, context)

    async def on_get_task_push_notification_config(
        self, params: pb.GetTaskPushNotificationConfigRequest, context: ServerCallContext
    ) -> pb.TaskPushNotificationConfig:
        """One webhook of a task; in protocol 0.3, which lets a client leave out its id, the default one."""
        if not params.id and version_of(context) == LEGACY:
            asked = pb.ListTaskPushNotificationConfigsRequest(tenant=params.tenant, task_id=params.task_id)
            listed = await self.on_list_task_push_notification_configs(asked, context)
            return default_of(listed.configs, params.task_id)
        return await self._get_webhook(params, context)

    @operation("GetTaskPushNotificationConfig", announced=capabilities.push)
    async def _get_webhook(
        self, params: pb.GetTaskPushNotificationConfigRequest, context: ServerCallContext
    ) -> pb.TaskPushNotificationConfig:
        return await self._webhooks.get(params.task_id, params.id, context)

    @operation("ListTaskPushNotificationConfigs", announced=capabilities.push)
    async def on_list_task_push_notification_configs(
        self, params: pb.ListTaskPushNotificationConfigsRequest, context: ServerCallContext
    ) -> pb.ListTaskPushNotificationConfigsResponse:
        """A page of the webhooks of a task."""
        return await self._webhooks.list(params, context)

    @operation("DeleteTaskPushNotificationConfig", announced=capabilities.push)
    async def on_delete_task_push_notification_config(
        self, params: pb.DeleteTaskPushNotificationConfigRequest, context: ServerCallContext
    ) -> None:
        """Forget a webhook of a task."""
        await self._webhooks.delete(params.task_id, params.id, context)

    @operation("GetExtendedAgentCard", announced=capabilities.extended_card)
    async def on_get_extended_agent_card(
        self, params: pb.GetExtendedAgentCardRequest, context: ServerCallContext
    ) -> pb.AgentCard:
        """The extended card, for authenticated callers only, of an agent that announces one."""
        del params, context
        if self._parts.extended_card is None:
            raise ExtendedAgentCardNotConfiguredError
        return self._parts.extended_card


def _taken_up(task: pb.Task, first: Event) -> pb.Task:
    """A task that a message resumes, as its turn begins: before the first event, which has the new state.

    Its state is working, whatever that event is: a task that still waits, or has ended, would end the stream for some clients.
    """
    if isinstance(first, pb.TaskStatusUpdateEvent):
        task.status.timestamp.CopyFrom(first.status.timestamp)
    task.status.state = pb.TaskState.TASK_STATE_WORKING
    return task


def _retrieve_error(accepting: asyncio.Future[None]) -> None:
    """Retrieve an error that may have no other reader, so that asyncio does not log it."""
    if not accepting.cancelled():
        accepting.exception()
