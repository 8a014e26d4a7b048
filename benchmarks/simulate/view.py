"""What a client knows of a task after the events that it read, in order. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from a2a.types.a2a_pb2 import (
    Artifact,
    Message,
    Task,
    TaskArtifactUpdateEvent,
    TaskState,
    TaskStatusUpdateEvent,
)
from google.protobuf.struct_pb2 import Struct

from utils.a2a_common.protocol.extensions import ERROR_EXTENSION

TERMINAL = frozenset({"completed", "canceled", "failed", "rejected"})
INTERRUPTED = frozenset({"input-required", "auth-required"})
SETTLED = TERMINAL | INTERRUPTED


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A whole task; `code` is that of its failure."""

    state: str
    texts: tuple[tuple[str, str], ...] = ()
    code: str = ""


@dataclass(frozen=True, slots=True)
class Status:
    """A change of state; `code` is that of a failure."""

    state: str
    code: str = ""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of an artifact."""

    artifact: str
    text: str
    append: bool


@dataclass(frozen=True, slots=True)
class Said:
    """A message in place of a task."""

    text: str


Seen = Snapshot | Status | Chunk | Said


def state_name(state: TaskState) -> str:
    """The name of a state in the words of the protocol."""
    return TaskState.Name(state).removeprefix("TASK_STATE_").lower().replace("_", "-")


def text_of(artifact: Artifact) -> str:
    """The text of an artifact, whatever the number of its parts."""
    return "".join(part.text for part in artifact.parts)


def snapshot_of(task: Task) -> Snapshot:
    """A task as the invariants compare it."""
    texts = tuple(sorted((each.artifact_id, text_of(each)) for each in task.artifacts))
    return Snapshot(state_name(task.status.state), texts, _code(task.metadata))


def seen_of(event: Task | Message | TaskStatusUpdateEvent | TaskArtifactUpdateEvent) -> Seen:
    """An event as the invariants compare it."""
    if isinstance(event, Task):
        return snapshot_of(event)
    if isinstance(event, Message):
        return Said("".join(part.text for part in event.parts))
    if isinstance(event, TaskStatusUpdateEvent):
        return Status(state_name(event.status.state), _code(event.metadata))
    return Chunk(event.artifact.artifact_id, text_of(event.artifact), event.append)


def _code(metadata: Struct) -> str:
    if ERROR_EXTENSION not in metadata.fields:
        return ""
    return metadata.fields[ERROR_EXTENSION].struct_value.fields["code"].string_value


class Gap(Exception):
    """An event does not fit what was read before it."""


@dataclass(slots=True)
class View:
    """The state and the texts of a task, as far as they were read."""

    state: str
    texts: dict[str, str]
    code: str = ""

    def snapshot(self) -> Snapshot:
        """What was read, as a whole."""
        return Snapshot(self.state, tuple(sorted(self.texts.items())), self.code)


def follow(events: Iterable[Seen]) -> Iterable[View]:
    """The view after each event; the same object, which changes.

    Raises:
        Gap: The first event is no snapshot, or a chunk is appended to what is not there.
    """
    view: View | None = None
    for event in events:
        if isinstance(event, Snapshot):
            if view is not None:
                raise Gap("the task came twice")
            view = View(event.state, dict(event.texts), event.code)
        elif isinstance(event, Said):
            if view is not None:
                raise Gap("a message came after the task")
            view = View("said", {"": event.text})
        elif view is None:
            raise Gap(f"{event} came before the task")
        elif isinstance(event, Status):
            view.state, view.code = event.state, event.code or view.code
        elif event.append:
            if event.artifact not in view.texts:
                raise Gap(f"{event} continues an artifact that was not begun")
            view.texts[event.artifact] += event.text
        else:
            view.texts[event.artifact] = event.text
        yield view
