"""A2A wire objects to the events of `events.py`. Pure: values in, values out."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from a2a.types import Artifact, Message, Part, StreamResponse, Task, TaskState, TaskStatus
from google.protobuf.json_format import MessageToDict

from multi_agents.cli.peer.events import (
    ActivitySeen,
    ContextSeen,
    ErrorSeen,
    MessageSeen,
    NextSeen,
    PeerEvent,
    PlanSeen,
    StatusSeen,
    TaskSeen,
    TextSeen,
    UsageSeen,
)
from utils.a2a_common.protocol.extensions import (
    ACTIVITY_EXTENSION,
    CONTEXT_EXTENSION,
    ERROR_EXTENSION,
    NEXT_EXTENSION,
    PLAN_ARTIFACT,
    QUESTION_EXTENSION,
    USAGE_EXTENSION,
    parse_plan,
)
from utils.events import PlanUpdated

_MOST_SUGGESTED = 3
"""Requests that are shown below an answer, however many an agent sends."""


def decode(response: StreamResponse) -> Iterator[PeerEvent]:
    """The events of one element of a stream, in the order in which they matter."""
    match response.WhichOneof("payload"):
        case "task":
            yield from decode_task(response.task)
        case "message":
            message = response.message
            yield MessageSeen(text=message_text(message), context_id=message.context_id)
        case "status_update":
            update = response.status_update
            metadata = MessageToDict(update.metadata)
            yield from _activity(metadata)
            yield from _facts(metadata)
            yield _status(update.task_id, update.context_id, update.status)
        case "artifact_update":
            chunk = response.artifact_update
            yield _artifact(chunk.artifact, append=chunk.append)


def decode_task(task: Task) -> Iterator[PeerEvent]:
    """The events that bring a view to the state of a task snapshot: artifacts are replaced."""
    yield TaskSeen(task.id, task.context_id, state_name(task.status.state))
    for artifact in task.artifacts:
        yield _artifact(artifact, append=False)
    yield from _facts(MessageToDict(task.metadata))
    yield _status(task.id, task.context_id, task.status)


def state_name(state: TaskState) -> str:
    """The protocol's word for a state: `completed`, `input-required` and so on."""
    return TaskState.Name(state).removeprefix("TASK_STATE_").lower().replace("_", "-")


def message_text(message: Message) -> str:
    """The parts of a message as text."""
    return "\n".join(text for text in map(part_text, message.parts) if text)


def part_text(part: Part) -> str:
    """One part as text: data as a JSON block, files by name, type and size or address."""
    match part.WhichOneof("content"):
        case "text":
            return part.text
        case "data":
            return f"```json\n{json.dumps(MessageToDict(part.data), indent=2, ensure_ascii=False)}\n```"
        case "url":
            return f"[{part.filename or 'file'}]({part.url})"
        case "raw":
            kind = part.media_type or "unknown type"
            return f"[file {part.filename or 'without a name'}: {kind}, {len(part.raw)} bytes]"
    return ""


def _artifact(artifact: Artifact, *, append: bool) -> PeerEvent:
    plan = _plan(artifact.parts) if artifact.name == PLAN_ARTIFACT else None
    if plan is not None:
        return PlanSeen(tuple(sorted(plan.steps, key=lambda step: step.order)))
    text = "".join(part_text(part) for part in artifact.parts)
    return TextSeen(artifact.artifact_id, artifact.name, text, append=append)


def _plan(parts: Sequence[Part]) -> PlanUpdated | None:
    if len(parts) != 1 or parts[0].WhichOneof("content") != "data":
        return None
    value = MessageToDict(parts[0].data)
    return parse_plan(value) if isinstance(value, dict) else None


def _status(task_id: str, context_id: str, status: TaskStatus) -> StatusSeen:
    text = message_text(status.message) if status.HasField("message") else ""
    question = MessageToDict(status.message.metadata).get(QUESTION_EXTENSION)
    origin = str(question.get("origin", "")) if isinstance(question, dict) else ""
    return StatusSeen(task_id, context_id, state_name(status.state), text, origin)


def _activity(metadata: Mapping[str, Any]) -> Iterator[PeerEvent]:
    activity = metadata.get(ACTIVITY_EXTENSION)
    if isinstance(activity, dict):
        yield ActivitySeen(activity)


def _facts(metadata: Mapping[str, Any]) -> Iterator[PeerEvent]:
    usage = metadata.get(USAGE_EXTENSION)
    if isinstance(usage, dict):
        yield UsageSeen(usage)
    context = metadata.get(CONTEXT_EXTENSION)
    if isinstance(context, dict):
        yield ContextSeen(context)
    foretold = metadata.get(NEXT_EXTENSION)
    if isinstance(foretold, dict) and isinstance(foretold.get("requests"), list):
        yield NextSeen(tuple(str(request) for request in foretold["requests"][:_MOST_SUGGESTED]))
    error = metadata.get(ERROR_EXTENSION)
    if isinstance(error, dict):
        yield ErrorSeen(
            code=str(error.get("code", "")),
            message=str(error.get("message", "")),
            retryable=error.get("retryable") is True,
            trace_id=str(error.get("trace_id", "")),
        )
