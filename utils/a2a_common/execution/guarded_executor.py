"""Wraps any executor: every turn ends in one final state, and no exception's text reaches a client."""

from __future__ import annotations

import structlog
from a2a.helpers.proto_helpers import new_task_from_user_message
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events.event_queue import EventQueue
from a2a.types.a2a_pb2 import Message, Part, Role, TaskState, TaskStatus, TaskStatusUpdateEvent

from utils.a2a_common.execution.executor import failed
from utils.a2a_common.execution.guarded_queue import GuardedQueue
from utils.a2a_common.protocol.extensions import ERROR_EXTENSION, error_payload
from utils.a2a_common.tasks.turns import Turns
from utils.errors import CRASHED, INTERNAL, NoAnswer, PlatformError
from utils.events import Failed

log = structlog.get_logger(__name__)

_BROKEN = Failed(INTERNAL, CRASHED)
_SILENT = failed(NoAnswer())


class GuardedExecutor(AgentExecutor):
    """Runs an executor so that each turn ends in a terminal or interrupted state.

    An exception becomes a failed task with a code and a safe sentence. An executor that says
    nothing, or returns while the task is still working, becomes one too: the SDK would let a
    unary caller wait for ever.
    """

    def __init__(self, inner: AgentExecutor, turns: Turns) -> None:
        self._inner = inner
        self._turns = turns
        self._open: dict[str, GuardedQueue] = {}

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        """Run one turn to its end."""
        queue = GuardedQueue(event_queue, context.current_task)
        task_id = context.task_id or ""
        self._open[task_id] = queue
        self._turns.begin(task_id)
        try:
            await self._run(context, queue)
        finally:
            queue.close()
            self._open.pop(task_id, None)
            self._turns.end(task_id)

    async def _run(self, context: RequestContext, queue: GuardedQueue) -> None:
        failure = _SILENT
        try:
            await self._inner.execute(context, queue)
        except PlatformError as error:
            log.exception("turn.failed", task_id=context.task_id, code=error.code)
            failure = failed(error)
        except Exception:  # the executor boundary: every error ends the task
            log.exception("turn.crashed", task_id=context.task_id, code=_BROKEN.code)
            failure = _BROKEN
        if not queue.settled:
            await _end(context, queue, TaskState.TASK_STATE_FAILED, failure)

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        """Stop a turn. The task ends canceled even when the executor says nothing about it."""
        running = self._open.get(context.task_id or "")
        queue = GuardedQueue(event_queue, context.current_task)
        try:
            await self._inner.cancel(context, queue)
        except Exception:  # the executor boundary: the task ends canceled all the same
            log.exception("cancel.failed", task_id=context.task_id)
        if running is not None and running.settled:
            return
        if running is not None:
            running.close()
        if not queue.settled:
            await _end(context, queue, TaskState.TASK_STATE_CANCELED, None)


async def _end(
    context: RequestContext, queue: GuardedQueue, state: TaskState, failure: Failed | None
) -> None:
    """Write the one terminal status of a turn whose executor did not."""
    if not queue.has_task:
        if context.message is None:
            return
        await queue.enqueue_event(new_task_from_user_message(context.message))
    status = TaskStatus(state=state)
    event = TaskStatusUpdateEvent(task_id=context.task_id, context_id=context.context_id, status=status)
    if failure is not None:
        event.status.message.CopyFrom(_sentence(context, failure.message))
        event.metadata.update({ERROR_EXTENSION: error_payload(failure, "")})
    await queue.enqueue_event(event)


def _sentence(context: RequestContext, text: str) -> Message:
    return Message(
        message_id=f"{context.task_id}-end",
        role=Role.ROLE_AGENT,
        task_id=context.task_id,
        context_id=context.context_id,
        parts=[Part(text=text)],
    )
