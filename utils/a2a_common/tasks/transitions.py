"""The state machine of a task: which event may follow which, and how it changes the task. Pure: no clock, no storage.

- A turn is settled by a terminal or interrupted status, or by the one message of an agent that answers without a task.
  Nothing follows it, except after a request for credentials: these may arrive by another way while the run continues.
- A task comes before its statuses and artifacts; a second one is ignored.
- No status steps back from working to submitted.
- When a task ends, its open sub-tasks at other agents are shown as ended too, in its tree and its plan.
- A violation of the protocol (an event of another task, a message after events of the task) is an error.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum

from a2a.server.events.event_queue import Event
from a2a.types.a2a_pb2 import (
    Artifact,
    Message,
    Task,
    TaskArtifactUpdateEvent,
    TaskState,
    TaskStatus,
    TaskStatusUpdateEvent,
)
from google.protobuf import json_format

from utils.a2a_common.protocol.json_values import complaint_about
from utils.a2a_common.protocol.left_open import KEYS, closed_metadata
from utils.a2a_common.tasks.states import SETTLED, TERMINAL
from utils.errors import ProtocolViolation


@dataclass(frozen=True, slots=True)
class TurnProgress:
    """The progress of a turn.

    Attributes:
        task_id: The task.
        settled: Whether the turn is over, as far as readers are concerned.
        open: Whether more events may follow: until the turn is settled, and while it waits for credentials.
        task_mode: Whether this turn has published an event of the task, so that it cannot be answered by a message.
        artifacts: Ids of the artifacts of the task; grows in place.
    """

    task_id: str
    settled: bool = False
    open: bool = True
    task_mode: bool = False
    artifacts: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Applied:
    """An event that became part of the log.

    Attributes:
        event: A copy of the event, with its timestamp filled in.
        head: The task after it, without the parts of its artifacts; `None` while there is no task.
        progress: The turn after it.
        starts: Whether it is the first event of the task.
        moves: Whether the head is to be stored again: the task is new, its state changed, or it settled.
        settles: Whether the turn ends with it.
    """

    event: Event
    head: Task | None
    progress: TurnProgress
    starts: bool = False
    moves: bool = False
    settles: bool = False


class Dropped(StrEnum):
    """Why an event is dropped. None of these is an error of an executor that was stopped or that answers late."""

    SETTLED = "settled"
    """The turn is over."""
    REPEATED = "repeated"
    """The task exists already."""
    STEP_BACK = "step_back"
    """A working task is not submitted again."""


def begin(task_id: str, head: Task | None) -> TurnProgress:
    """The progress of a turn that has just begun on a task, which need not exist yet."""
    ended = head is not None and head.status.state in TERMINAL
    known = {artifact.artifact_id for artifact in head.artifacts} if head is not None else set()
    return TurnProgress(task_id, settled=ended, open=not ended, artifacts=known)


def apply(progress: TurnProgress, head: Task | None, event: Event, now: float) -> Applied | Dropped:
    """Apply an event to a task.

    `head` is changed in place by an event that leaves the turn open; one that settles it makes a new head, since
    readers see such an event only when it is stored.

    Args:
        progress: The progress of the turn.
        head: The task without the parts of its artifacts; `None` while there is none.
        event: What the executor published. It is copied.
        now: Seconds since 1970, the time of a status that has none.

    Raises:
        ProtocolViolation: The event cannot be part of this task, or no client could read it.
    """
    complaint = complaint_about(event)
    if complaint is not None:
        raise ProtocolViolation(f"The agent gave no valid answer: it {complaint}.")
    if not progress.open:
        return Dropped.SETTLED
    if isinstance(event, Message):
        return _message(progress, head, event)
    _check_task_id(progress, event)
    if isinstance(event, Task):
        return Dropped.REPEATED if head is not None else _task(progress, event, now)
    if head is None:
        raise ProtocolViolation("The agent gave no valid answer: its events came before their task.")
    if isinstance(event, TaskStatusUpdateEvent):
        return _status(progress, head, event, now)
    return _artifact(progress, head, event)


def replay(head: Task, event: TaskStatusUpdateEvent | TaskArtifactUpdateEvent) -> None:
    """Apply a stored event to the head that was stored before it, in place."""
    if isinstance(event, TaskStatusUpdateEvent):
        _advance(head, event)
    elif all(artifact.artifact_id != event.artifact.artifact_id for artifact in head.artifacts):
        _add_artifact(head, event.artifact)


def join_history(head: Task, message: Message) -> bool:
    """Add the message of a follow-up to the history, in place; `False` when it is there already.

    The message of the task's status goes before it.
    """
    if any(known.message_id == message.message_id for known in head.history):
        return False
    _move_status_message(head)
    head.status.ClearField("message")
    head.history.append(message)
    return True


def bare(task: Task) -> Task:
    """A copy of a task without the parts of its artifacts."""
    head = Task()
    head.CopyFrom(task)
    for artifact in head.artifacts:
        artifact.ClearField("parts")
    return head


def _check_task_id(
    progress: TurnProgress, event: Task | TaskStatusUpdateEvent | TaskArtifactUpdateEvent
) -> None:
    named = event.id if isinstance(event, Task) else event.task_id
    if named != progress.task_id:
        raise ProtocolViolation("The agent gave no valid answer: it published an event of another task.")


def _message(progress: TurnProgress, head: Task | None, event: Message) -> Applied:
    if progress.task_mode:
        raise ProtocolViolation("The agent gave no valid answer: a message came after events of its task.")
    copy = Message()
    copy.CopyFrom(event)
    return Applied(copy, head, replace(progress, settled=True, open=False), settles=True)


def _task(progress: TurnProgress, event: Task, now: float) -> Applied:
    copy = Task()
    copy.CopyFrom(event)
    _stamp(copy.status, now)
    progress.artifacts.update(artifact.artifact_id for artifact in copy.artifacts)
    after = _after(progress, copy.status.state)
    return Applied(copy, bare(copy), after, starts=True, moves=True, settles=after.settled)


def _status(
    progress: TurnProgress, head: Task, event: TaskStatusUpdateEvent, now: float
) -> Applied | Dropped:
    before, state = head.status.state, event.status.state
    if before == TaskState.TASK_STATE_WORKING and state == TaskState.TASK_STATE_SUBMITTED:
        return Dropped.STEP_BACK
    copy = TaskStatusUpdateEvent()
    copy.CopyFrom(event)
    _stamp(copy.status, now)
    if state in TERMINAL:
        _close_metadata(head, copy)
    after = _after(progress, state)
    if after.settled:
        known, head = head, Task()
        head.CopyFrom(known)
    _advance(head, copy)
    return Applied(copy, head, after, moves=after.settled or state != before, settles=after.settled)


def _after(progress: TurnProgress, state: TaskState) -> TurnProgress:
    settled = state in SETTLED
    waits = state == TaskState.TASK_STATE_AUTH_REQUIRED
    return replace(progress, task_mode=True, settled=settled, open=not settled or waits)


def _advance(head: Task, event: TaskStatusUpdateEvent) -> None:
    _move_status_message(head)
    if event.HasField("metadata"):
        head.metadata.MergeFrom(event.metadata)
    head.status.CopyFrom(event.status)


def _close_metadata(head: Task, event: TaskStatusUpdateEvent) -> None:
    """Close the tree and the plan in the status that ends a task."""
    known = {
        key: json_format.MessageToDict(metadata.fields[key])
        for metadata in (head.metadata, event.metadata)
        for key in KEYS
        if key in metadata.fields
    }
    if closed := closed_metadata(known):
        event.metadata.update(closed)


def _move_status_message(head: Task) -> None:
    if head.status.HasField("message"):
        head.history.append(head.status.message)


def _artifact(progress: TurnProgress, head: Task, event: TaskArtifactUpdateEvent) -> Applied:
    known = event.artifact.artifact_id in progress.artifacts
    if event.append and not known:
        raise ProtocolViolation(
            "The agent gave no valid answer: it continued an artifact that it had not begun."
        )
    copy = TaskArtifactUpdateEvent()
    copy.CopyFrom(event)
    if not known:
        progress.artifacts.add(event.artifact.artifact_id)
        _add_artifact(head, event.artifact)
    return Applied(copy, head, replace(progress, task_mode=True))


def _add_artifact(head: Task, artifact: Artifact) -> None:
    added = head.artifacts.add()
    added.CopyFrom(artifact)
    added.ClearField("parts")


def _stamp(status: TaskStatus, now: float) -> None:
    if not status.HasField("timestamp"):
        status.timestamp.FromNanoseconds(round(now * 1e9))
