"""The events that the engine writes for turns that do not run or are not resumed."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import structlog
from a2a.types.a2a_pb2 import Task, TaskStatusUpdateEvent

from utils.a2a_common.protocol.extensions import ACTIVITY_EXTENSION, resubscribe_payload
from utils.a2a_common.tasks.entries import Fenced, Suspended
from utils.a2a_common.tasks.statuses import canceled_status, failed_status, failure, submitted, working_status
from utils.a2a_common.tasks.turn import Turn
from utils.a2a_common.tasks.writer import TaskWriter
from utils.errors import PlatformError, StorageError, TurnInterrupted

log = structlog.get_logger(__name__)

RESTART_SECONDS = 5.0
"""Retry-After in seconds while the process stops: about as long as a start takes."""


async def begin_task(writer: TaskWriter, turn: Turn) -> Task | None:
    """The task of a turn, published now if it was not before; `None` if it cannot be stored."""
    if writer.head is None:
        with _unwritten(turn.task_id):
            await writer.append(submitted(turn))
    return writer.head


async def cancel_unbegun(writer: TaskWriter, turn: Turn) -> None:
    """Cancel a turn whose run has not begun."""
    task = await begin_task(writer, turn)
    if task is not None:
        with _unwritten(turn.task_id):
            await writer.append(canceled_status(task.id, task.context_id))


async def interrupt(
    writer: TaskWriter, task_id: str, turn: Turn | None, reason: PlatformError | None = None
) -> None:
    """Fail a task whose turn is not resumed, because its process ended where no other reason is given."""
    log.warning("turn.interrupted", task_id=task_id)
    task = writer.head if turn is None else await begin_task(writer, turn)
    if task is not None:
        with _unwritten(task_id):
            await writer.append(failed_status(task_id, task.context_id, failure(reason or TurnInterrupted())))


def suspend(writer: TaskWriter) -> None:
    """Keep a turn for the next process, and ask its readers to subscribe again."""
    head, last = writer.shown, None
    if head is not None:  # the first event of a stream is the task
        last = resubscribe_status(head)
    writer.suspend(last)


def resubscribe_status(head: Task) -> TaskStatusUpdateEvent:
    """The last event for readers of a task that continues in another process: it asks them to subscribe again."""
    again = {ACTIVITY_EXTENSION: resubscribe_payload(RESTART_SECONDS)}
    return working_status(head.id, head.context_id, again)


@contextlib.contextmanager
def _unwritten(task_id: str) -> Iterator[None]:
    """Log an event that was not written: the log stores the end of the task later, or another attempt writes one."""
    try:
        yield
    except (Fenced, Suspended, StorageError) as error:
        log.warning("turn.end_not_written", task_id=task_id, reason=type(error).__name__)
