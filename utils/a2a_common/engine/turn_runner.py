"""`TurnRunner`: runs a turn with any `AgentExecutor`, so that it always ends in a terminal or interrupted state."""

from __future__ import annotations

import asyncio
from functools import partial

import structlog
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.context import ServerCallContext
from a2a.types.a2a_pb2 import SendMessageRequest, Task, TaskState

from utils.a2a_common.engine.event_queue import LogQueue
from utils.a2a_common.engine.turn_executor import turn_executor
from utils.a2a_common.tasks.begun_effects import BegunEffects
from utils.a2a_common.tasks.log import TaskLog
from utils.a2a_common.tasks.states import INTERRUPTED, TERMINAL
from utils.a2a_common.tasks.statuses import (
    UNFORESEEN,
    canceled_status,
    copy_of,
    failed_status,
    failure,
    failure_of,
    submitted,
)
from utils.a2a_common.tasks.third_party_code import third_party_code
from utils.a2a_common.tasks.turn import Turn, stored_call
from utils.a2a_common.tasks.writer import CONTINUES_ELSEWHERE, TaskWriter
from utils.errors import NoAnswer
from utils.events import Failed

log = structlog.get_logger(__name__)

STOP_SECONDS = 5.0
"""Default of `stop_seconds`: the default of `SHUTDOWN_GRACE_SECONDS`."""


class TurnContext(RequestContext):
    """The request context of a turn, from the call or from the storage.

    Attributes:
        resumed: Whether an earlier process accepted the turn.
        answers: Whether the message answers a question of the task.
        deadline: When the answer is too late, in seconds since 1970; `None` for no limit.
        suspended: Set before the executor is stopped so that the turn can go on in another process.
        accepted_at: When the message was accepted, in seconds since 1970.
    """

    def __init__(
        self, turn: Turn, call: ServerCallContext | None, task: Task | None, *, resumed: bool
    ) -> None:
        request = SendMessageRequest()
        request.CopyFrom(turn.request)
        super().__init__(
            call or stored_call(turn), request, task_id=turn.task_id, context_id=turn.context_id, task=task
        )
        self.resumed = resumed
        self.answers = task is not None and _answers(turn, task)
        self.deadline = turn.deadline
        self.suspended = asyncio.Event()
        self.accepted_at = turn.accepted_at


def _answers(turn: Turn, task: Task) -> bool:
    """Whether the task waited for this message. A resumed turn may have left that state: only the first began the task."""
    if task.status.state in INTERRUPTED:
        return True
    return bool(task.history) and task.history[0].message_id != turn.request.message.message_id


class TurnRunner:
    """Runs turns with an executor, which need not know this engine.

    If the executor raises, publishes nothing, or returns while its task is working, the task fails. It is stopped when the
    log accepts no more of its events: no client could see them.

    Args:
        executor: Does the work. Only a `TurnExecutor` can have turns resumed.
        tasks: Counts the open streams of a task.
        stop_seconds: Longest wait for an executor that was canceled; the events of one that continues are dropped.
    """

    def __init__(
        self, executor: AgentExecutor, tasks: TaskLog, *, stop_seconds: float = STOP_SECONDS
    ) -> None:
        self._executor = turn_executor(executor)
        self._tasks = tasks
        self._stop_seconds = stop_seconds

    @property
    def resumable(self) -> bool:
        """Whether an interrupted turn can be resumed."""
        return self._executor.resumable

    def may_stay_silent(self, turn: Turn) -> bool:
        """Whether the executor may publish nothing for long although the sender wants the task at once."""
        return turn.request.configuration.return_immediately and not self._executor.begins_with_task

    async def accept(self, turn: Turn, writer: TaskWriter) -> None:
        """Publish the task of a turn before its executor does."""
        if writer.head is None:
            await writer.append(submitted(turn))

    async def run(
        self,
        turn: Turn,
        writer: TaskWriter,
        *,
        task: Task | None,
        call: ServerCallContext | None,
        resumed: bool,
    ) -> None:
        """Run a turn. When this returns, the turn is settled, or the log accepts no more of its events."""
        context = TurnContext(turn, call, task, resumed=resumed)
        readers = partial(self._tasks.readers, turn.task_id, turn.owner)
        queue = LogQueue(writer, turn.task_id, readers, shown=self._shown(writer.head))
        work = asyncio.create_task(self._outcome(context, queue, writer.effects))
        try:
            await _first(work, writer.lost)
        finally:
            if writer.reason in CONTINUES_ELSEWHERE:
                context.suspended.set()
            await self._stop(work, turn.task_id)
        if work.done():
            await _end(turn, writer, queue, UNFORESEEN if work.cancelled() else work.result())

    async def cancel(
        self, task_id: str, context_id: str, writer: TaskWriter, call: ServerCallContext
    ) -> None:
        """Let the executor cancel a task. When this returns, the task is in a terminal state, unless the log refuses that.

        Waits at most `stop_seconds` for the executor, so that it cannot delay the stop of the process.
        """
        context = RequestContext(call, task_id=task_id, context_id=context_id, task=copy_of(writer.head))
        queue = LogQueue(writer, task_id)
        try:
            async with asyncio.timeout(self._stop_seconds) as allowed:
                await self._executor.cancel(context, queue)
        except Exception as error:  # the executor boundary: the task ends canceled all the same
            if isinstance(error, TimeoutError) and allowed.expired():
                log.warning("cancel.timed_out", task_id=task_id, seconds=self._stop_seconds)
            else:
                log.exception("cancel.failed", task_id=task_id)
        if writer.head is None or writer.head.status.state not in TERMINAL:
            await queue.append(canceled_status(task_id, context_id))
        else:
            await writer.flushed()  # the run ended by itself, and its end may not be stored yet

    async def abandon(self, task_id: str) -> None:
        """Cancel the sub-tasks of a task that ended without its run."""
        try:
            await self._executor.abandon(task_id)
        except Exception:  # a hook of an agent: the task has ended all the same
            log.exception("abandon.failed", task_id=task_id)

    async def forget(self, task_id: str) -> None:
        """Delete what is stored for the resume of a task that has ended, and whose turn can never be resumed."""
        try:
            await self._executor.forget(task_id)
        except Exception:  # a hook of an agent: only storage space is lost
            log.exception("forget.failed", task_id=task_id)

    def _shown(self, task: Task | None) -> Task | None:
        """The submitted task, if it was published before the run and the executor may still answer with a plain message."""
        if task is None or self._executor.begins_with_task:
            return None
        return copy_of(task) if task.status.state == TaskState.TASK_STATE_SUBMITTED else None

    async def _outcome(self, context: TurnContext, queue: LogQueue, effects: BegunEffects) -> Failed | None:
        """Run the executor; return its failure if it raised."""
        effects.enter()
        try:
            with third_party_code():
                await self._executor.execute(context, queue)
        except Exception as error:  # noqa: BLE001 - the executor boundary: every error ends the task
            return failure_of(error)
        return None

    async def _stop(self, work: asyncio.Task[Failed | None], task_id: str) -> None:
        if work.done():
            return
        work.cancel()
        await asyncio.wait([work], timeout=self._stop_seconds)
        if not work.done():
            log.warning("executor.not_stopped", task_id=task_id, seconds=self._stop_seconds)


async def _end(turn: Turn, writer: TaskWriter, queue: LogQueue, failed: Failed | None) -> None:
    """Fail a task that its executor left open, or that waits for an authentication after the executor crashed."""
    head = writer.head
    waits = head is not None and head.status.state == TaskState.TASK_STATE_AUTH_REQUIRED
    if writer.lost.is_set() or (writer.settled and not (failed is not None and waits)):
        return
    if head is None:
        await queue.append(submitted(turn))
    await queue.append(failed_status(turn.task_id, turn.context_id, failed or failure(NoAnswer())))


async def _first(work: asyncio.Task[Failed | None], lost: asyncio.Event) -> None:
    """Wait for the end of the work, or until the log accepts no more of its events."""
    waiting = asyncio.create_task(lost.wait())
    try:
        await asyncio.wait([work, waiting], return_when=asyncio.FIRST_COMPLETED)
    finally:
        waiting.cancel()
