"""A2A wire objects -> the events of `client/stream/events.py`. Pure: values in, values out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from a2a.types.a2a_pb2 import Message, Role, Task, TaskState
from google.protobuf import json_format

from utils.a2a_common.client.stream.events import (
    ActivityReported,
    ArtifactChanged,
    MessageReceived,
    PeerEvent,
    StatusChanged,
    TaskSnapshot,
)
from utils.a2a_common.protocol.extensions import (
    ACTIVITY_EXTENSION,
    ACTIVITY_PLAN,
    CONTEXT_EXTENSION,
    ERROR_EXTENSION,
    NEXT_EXTENSION,
    PLAN_ARTIFACT,
    QUESTION_EXTENSION,
    TREE_EXTENSION,
    USAGE_EXTENSION,
    parse_activity,
    parse_context,
    parse_error,
    parse_plan,
    parse_question,
    parse_resubscribe,
    parse_suggestions,
    parse_usage,
)
from utils.a2a_common.protocol.parts import decode_part
from utils.a2a_common.protocol.task_tree import parse_tree
from utils.events import ContentPart, DataPart, DelegationState, PlanUpdated

if TYPE_CHECKING:
    from a2a.types.a2a_pb2 import Artifact, Part, StreamResponse, TaskStatus

_STATES: dict[int, DelegationState] = {
    TaskState.TASK_STATE_SUBMITTED: DelegationState.SUBMITTED,
    TaskState.TASK_STATE_WORKING: DelegationState.WORKING,
    TaskState.TASK_STATE_COMPLETED: DelegationState.COMPLETED,
    TaskState.TASK_STATE_FAILED: DelegationState.FAILED,
    TaskState.TASK_STATE_CANCELED: DelegationState.CANCELED,
    TaskState.TASK_STATE_REJECTED: DelegationState.REJECTED,
    TaskState.TASK_STATE_INPUT_REQUIRED: DelegationState.INPUT_REQUIRED,
    TaskState.TASK_STATE_AUTH_REQUIRED: DelegationState.AUTH_REQUIRED,
}


def decode(response: StreamResponse) -> Iterator[PeerEvent]:
    """The events of one element of a stream: what a status carries comes before it, activity after it."""
    match response.WhichOneof("payload"):
        case "task":
            yield from decode_task(response.task)
        case "message":
            yield MessageReceived(decode_parts(response.message.parts), response.message.context_id)
        case "status_update":
            update = response.status_update
            metadata = json_format.MessageToDict(update.metadata)
            yield from _facts(metadata)
            yield _status(update.task_id, update.context_id, update.status)
            yield from _activity(metadata)
        case "artifact_update":
            chunk = response.artifact_update
            yield _artifact(chunk.artifact, append=chunk.append)


def decode_task(task: Task) -> Iterator[PeerEvent]:
    """The events that bring a view to the state of a task."""
    yield TaskSnapshot(task.id, task.context_id, state_of(task.status))
    for artifact in task.artifacts:
        yield _artifact(artifact, append=False)
    yield from _facts(json_format.MessageToDict(task.metadata))
    yield _status(task.id, task.context_id, task.status)


def is_read(response: StreamResponse) -> bool:
    """Whether an element of a stream holds anything of A2A: its names are no others, and wrapped as they should be."""
    return response.WhichOneof("payload") is not None


def with_last_message(task: Task) -> Task:
    """The task with its agent's last message as the status message, if nothing else holds its answer.

    For a task whose stream could not be read: some agents put an answer into the history only.
    """
    last = next((each for each in reversed(task.history) if each.role), Message())
    status = task.status
    asks = status.HasField("message") and state_of(status) != DelegationState.COMPLETED
    known = status.message.message_id == last.message_id != ""
    if task.artifacts or asks or known or last.role != Role.ROLE_AGENT:
        return task
    completed = Task()
    completed.CopyFrom(task)
    del completed.status.message.parts[:]
    completed.status.message.parts.extend((*last.parts, *status.message.parts))
    return completed


def is_without_answer(task: Task) -> bool:
    """Whether a completed task has neither an artifact nor a message of its agent."""
    done = state_of(task.status) == DelegationState.COMPLETED
    return done and not task.artifacts and not task.status.message.parts


def addressed(response: StreamResponse) -> tuple[str, str]:
    """Ids of the task and the context of one element of a stream; each empty if the element does not name it."""
    match response.WhichOneof("payload"):
        case "task":
            return response.task.id, response.task.context_id
        case "message":
            return response.message.task_id, response.message.context_id
        case "status_update":
            return response.status_update.task_id, response.status_update.context_id
        case "artifact_update":
            return response.artifact_update.task_id, response.artifact_update.context_id
        case _:
            return "", ""


def resubscribe_seconds(response: StreamResponse) -> float | None:
    """Seconds to wait before subscribing again, if the agent asks for it because it stops while the task continues."""
    metadata = response.status_update.metadata.fields
    if ACTIVITY_EXTENSION not in metadata:
        return None
    return parse_resubscribe(json_format.MessageToDict(metadata[ACTIVITY_EXTENSION]))


def state_of(status: TaskStatus) -> DelegationState:
    """The state; one that the protocol does not know counts as working, so that the task is looked at again."""
    return _STATES.get(status.state, DelegationState.WORKING)


def decode_parts(parts: Iterable[Part]) -> tuple[ContentPart, ...]:
    """The parts that hold something."""
    found = (decode_part(part) for part in parts)
    return tuple(part for part in found if part is not None)


def _artifact(artifact: Artifact, *, append: bool) -> PeerEvent:
    parts = decode_parts(artifact.parts)
    plan = _plan(parts) if artifact.name == PLAN_ARTIFACT else None
    return plan or ArtifactChanged(artifact.artifact_id, artifact.name, parts, append=append)


def _plan(parts: Sequence[ContentPart]) -> PlanUpdated | None:
    match parts:
        case [DataPart(value=dict() as value)]:
            return parse_plan(value)
        case _:
            return None


def _status(task_id: str, context_id: str, status: TaskStatus) -> StatusChanged:
    parts = decode_parts(status.message.parts) if status.HasField("message") else ()
    return StatusChanged(
        task_id, context_id, state_of(status), parts, _origin(status.message), status.message.message_id
    )


def _origin(message: Message) -> str:
    metadata = message.metadata.fields
    return parse_question(
        json_format.MessageToDict(metadata[QUESTION_EXTENSION]) if QUESTION_EXTENSION in metadata else None
    )


def _activity(metadata: Mapping[str, Any]) -> Iterator[PeerEvent]:
    payload = metadata.get(ACTIVITY_EXTENSION)
    activity = parse_activity(payload) if isinstance(payload, Mapping) else None
    if isinstance(payload, Mapping) and activity is not None:
        yield ActivityReported(str(payload.get("agent", "")), activity)


def _facts(metadata: Mapping[str, Any]) -> Iterator[PeerEvent]:
    """The extension payloads of a status; malformed ones are left out."""
    readers: dict[str, Callable[[Mapping[str, Any]], PeerEvent | None]] = {
        ACTIVITY_PLAN: parse_plan,
        USAGE_EXTENSION: parse_usage,
        CONTEXT_EXTENSION: parse_context,
        NEXT_EXTENSION: parse_suggestions,
    }
    for uri, parse in readers.items():
        payload = metadata.get(uri)
        if isinstance(payload, Mapping) and (event := parse(payload)) is not None:
            yield event
    error, tree = metadata.get(ERROR_EXTENSION), metadata.get(TREE_EXTENSION)
    if isinstance(error, Mapping):
        yield parse_error(error)
    if isinstance(tree, Mapping):
        yield parse_tree(tree)
