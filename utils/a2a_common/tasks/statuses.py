"""The task and the statuses that no executor writes: its acceptance, and its end, with the sentence of an error for the user."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import structlog
from a2a.types.a2a_pb2 import Message, Part, Role, Task, TaskState, TaskStatus, TaskStatusUpdateEvent

from utils.a2a_common.protocol.extensions import ERROR_EXTENSION, error_payload
from utils.a2a_common.tasks.begun_effects import (
    BegunEffects,
    current_effects,
    cut_off,
    cut_off_below,
)
from utils.a2a_common.tasks.turn import Turn
from utils.errors import (
    CRASHED,
    INTERNAL,
    DeadlineExceeded,
    OutcomeUnknown,
    PlatformError,
    StorageError,
    StorageFull,
)
from utils.events import Failed
from utils.observability.trace import bound_trace_id
from utils.observability.tracebacks import causes_of
from utils.persistence.database_failures import StorageGone, StorageHeld

log = structlog.get_logger(__name__)

UNFORESEEN = Failed(INTERNAL, CRASHED)
"""The sentence of an unexpected error."""

NOT_STORED = (
    "The answer could not be stored and may be incomplete. If you asked for a change, check whether it was made before you ask "
    "again. Otherwise try again. If the error remains, tell whoever runs the service."
)

TOO_LATE = "This took longer than it may."

CRASHED_AFTER_EFFECT = (
    "Internal error in the agent after it called {tools}: whether the change was made is unknown. "
    "Check before you ask again, and report the trace id to whoever runs the agent."
)

CRASHED_ALONE = "Internal error in the agent. Report the trace id to whoever runs it."

CALLED_BEFORE = "{tools} had been called: whether the change was made is unknown. Check before you ask again."

ASKED_BEFORE = "{agents} may have done what was asked for: if that was a change, check whether it was made before you ask again."

EFFECT_NOT_STORED = "What {tools} returned could not be stored: whether the change was made is unknown. Check before you ask again."


def failure_of(error: Exception) -> Failed:
    """The event for any error: with its own sentence, or a general one if the error was unexpected."""
    from utils.llm.classify import classify

    known = error if isinstance(error, PlatformError) else classify(error)
    if known is None:
        log.error("turn.crashed", code=INTERNAL, exc_info=error)
        return unforeseen()
    log.warning("turn.failed", code=known.code, causes=causes_of(error))
    if isinstance(known, StorageError):
        return not_stored(known, current_effects()) or failure(known)
    if isinstance(known, DeadlineExceeded):
        return _too_late(current_effects()) or failure(known)
    return failure(known)


def unforeseen() -> Failed:
    """The event for an unexpected error; if something may have been changed, it does not advise a retry."""
    begun = current_effects()
    tools, others = begun.tools, [*cut_off_below(), *_asked_before(begun)]
    if not tools and not others:
        return UNFORESEEN
    own = CRASHED_AFTER_EFFECT.format(tools=" and ".join(tools)) if tools else CRASHED_ALONE
    return Failed(OutcomeUnknown.code, " ".join([own, *others]))


def not_stored(cause: StorageError, begun: BegunEffects) -> Failed | None:
    """The event for a turn whose result is lost although it may have changed something: a retry may change it twice.

    Returns:
        `None` for a turn that has begun nothing of that kind.
    """
    asked = _asked_before(begun)
    if not begun.tools and not asked:
        return None
    why = cause.message.split(". ")[0].rstrip(".") + "."
    own = EFFECT_NOT_STORED.format(tools=" and ".join(begun.tools)) if begun.tools else why
    return Failed(OutcomeUnknown.code, " ".join([own, *asked]))


def _too_late(begun: BegunEffects) -> Failed | None:
    """The event for a turn that ran out of time although it may have changed something; `None` for one that has begun nothing of that kind."""
    ended = [tool for tool in begun.tools if tool not in begun.under_way]
    before = [CALLED_BEFORE.format(tools=" and ".join(ended))] if ended else []
    sentences = [*filter(None, [cut_off()]), *before, *_asked_before(begun)]
    return Failed(OutcomeUnknown.code, " ".join([TOO_LATE, *sentences])) if sentences else None


def _asked_before(begun: BegunEffects) -> list[str]:
    """A sentence about the agents that were asked for something and that no other sentence mentions; none if there are none."""
    mentioned = {*begun.tools, *begun.under_way}
    agents = [agent for agent in begun.agents if agent not in mentioned]
    return [ASKED_BEFORE.format(agents=" and ".join(agents))] if agents else []


def failure(error: PlatformError) -> Failed:
    """The event for an error whose sentence may be shown."""
    return Failed(error.code, error.message, retryable=error.retryable)


def copy_of(task: Task | None) -> Task | None:
    """A copy of a task, if there is one."""
    if task is None:
        return None
    copy = Task()
    copy.CopyFrom(task)
    return copy


def submitted(turn: Turn) -> Task:
    """The task of a turn that has not begun, with the message in its history."""
    status = TaskStatus(state=TaskState.TASK_STATE_SUBMITTED)
    return Task(id=turn.task_id, context_id=turn.context_id, status=status, history=[turn.request.message])


def failed_status(task_id: str, context_id: str, failure: Failed) -> TaskStatusUpdateEvent:
    """The status of a task that failed, with a sentence for people and the error extension for programs."""
    sentence = Message(
        message_id=f"{task_id}-end",
        role=Role.ROLE_AGENT,
        task_id=task_id,
        context_id=context_id,
        parts=[Part(text=failure.message)],
    )
    status = TaskStatus(state=TaskState.TASK_STATE_FAILED, message=sentence)
    return _status(task_id, context_id, status, {ERROR_EXTENSION: error_payload(failure, bound_trace_id())})


def storage_end(head: Task, now: float, cause: StorageError, begun: BegunEffects) -> TaskStatusUpdateEvent:
    """The event that ends a task whose events could not be stored, with the code of the storage error and a sentence with the remedy.

    Where the turn has begun what may have changed something, the outcome is unknown.
    """
    known = isinstance(cause, StorageFull | StorageGone | StorageHeld)
    sentence = f"The answer may be incomplete. {cause.message}" if known else NOT_STORED
    end = not_stored(cause, begun) or Failed(cause.code, sentence, cause.retryable)
    event = failed_status(head.id, head.context_id, end)
    event.status.timestamp.FromNanoseconds(round(now * 1e9))
    return event


def canceled_status(task_id: str, context_id: str) -> TaskStatusUpdateEvent:
    """The status of a task that was canceled."""
    return _status(task_id, context_id, TaskStatus(state=TaskState.TASK_STATE_CANCELED))


def working_status(task_id: str, context_id: str, metadata: Mapping[str, Any]) -> TaskStatusUpdateEvent:
    """A status of a task that is worked on, with metadata."""
    return _status(task_id, context_id, TaskStatus(state=TaskState.TASK_STATE_WORKING), metadata)


def _status(
    task_id: str, context_id: str, status: TaskStatus, metadata: Mapping[str, Any] | None = None
) -> TaskStatusUpdateEvent:
    event = TaskStatusUpdateEvent(task_id=task_id, context_id=context_id, status=status)
    if metadata:
        event.metadata.update(dict(metadata))
    return event
