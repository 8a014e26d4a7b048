"""What a remote A2A task has said so far, folded from its stream. Pure: no network, no clock."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from a2a.types.a2a_pb2 import TaskState
from google.protobuf import json_format

from utils.a2a_common.client.part_text import Said, joined, said
from utils.a2a_common.protocol.extensions import (
    ERROR_EXTENSION,
    PLAN_ARTIFACT,
    RESPONSE_ARTIFACT,
    TREE_EXTENSION,
    USAGE_EXTENSION,
    parse_usage,
)
from utils.events import DelegationState, UsageReported

if TYPE_CHECKING:
    from a2a.types.a2a_pb2 import (
        Artifact,
        Message,
        StreamResponse,
        Task,
        TaskArtifactUpdateEvent,
        TaskStatus,
        TaskStatusUpdateEvent,
    )

STATES: dict[int, DelegationState] = {
    TaskState.TASK_STATE_SUBMITTED: DelegationState.SUBMITTED,
    TaskState.TASK_STATE_WORKING: DelegationState.WORKING,
    TaskState.TASK_STATE_COMPLETED: DelegationState.COMPLETED,
    TaskState.TASK_STATE_FAILED: DelegationState.FAILED,
    TaskState.TASK_STATE_CANCELED: DelegationState.CANCELED,
    TaskState.TASK_STATE_REJECTED: DelegationState.REJECTED,
    TaskState.TASK_STATE_INPUT_REQUIRED: DelegationState.INPUT_REQUIRED,
    TaskState.TASK_STATE_AUTH_REQUIRED: DelegationState.AUTH_REQUIRED,
}
_OPEN = (DelegationState.SUBMITTED, DelegationState.WORKING)
_WAITING = (DelegationState.INPUT_REQUIRED, DelegationState.AUTH_REQUIRED)


class RemoteTask:
    """The state of one remote task.

    Args:
        task_id: Its id, where it is known.
        ours: Whether the agent is of our kind: then its artifact `response` is the answer, and `plan` is none.

    Attributes:
        task_id: Id given by the remote agent; empty until it answered.
        events: How many events were folded in.
        context_id: The remote conversation; empty until it answered.
        state: The newest state.
        said: Text of the newest status message, or of a plain message reply.
        question: The words of the newest status message alone, without its data parts.
        asked: Data parts of the newest status message: the form of a question.
        error: Payload of the error extension, where the task failed with one.
        usage: Tokens that the remote agent reported.
        tree: Its own sub-tasks, as it told of them.
    """

    def __init__(self, task_id: str = "", *, ours: bool = False) -> None:
        self.task_id = task_id
        self.events = 0
        self.context_id = ""
        self.state = DelegationState.SUBMITTED
        self.said = ""
        self.question = ""
        self.asked: list[dict[str, Any]] = []
        self.error: Mapping[str, Any] = {}
        self.usage: UsageReported | None = None
        self.tree: Mapping[str, Any] = {}
        self._ours = ours
        self._artifacts: dict[str, list[Said]] = {}
        self._names: dict[str, str] = {}

    @property
    def heard(self) -> bool:
        """Whether anything was folded in yet."""
        return self.events > 0

    @property
    def open(self) -> bool:
        """Whether the task still works."""
        return self.state in _OPEN

    @property
    def waits(self) -> bool:
        """Whether the task waits for the user."""
        return self.state in _WAITING

    def apply(self, response: StreamResponse) -> dict[str, Any]:
        """Fold in one event; returns the metadata that it carried."""
        self.events += 1
        match response.WhichOneof("payload"):
            case "task":
                return self._apply_snapshot(response.task)
            case "status_update":
                return self._apply_status_update(response.status_update)
            case "artifact_update":
                self._apply_artifact_update(response.artifact_update)
            case "message":
                self._apply_message(response.message)
        return {}

    def apply_task(self, task: Task) -> dict[str, Any]:
        """Fold in a snapshot, which replaces all that was said before."""
        self.events += 1
        return self._apply_snapshot(task)

    def _apply_snapshot(self, task: Task) -> dict[str, Any]:
        self.task_id, self.context_id = task.id, task.context_id
        self._artifacts.clear()
        for artifact in task.artifacts:
            self._set_artifact(artifact)
        metadata = _struct(task.metadata)
        self._note(metadata)
        self._apply_status(task.status)
        return metadata

    def text(self) -> str:
        """The answer: the text of all artifacts, in which each file is named, else the status message's.

        Of an agent of our kind it is the artifact `response` alone, where there is one.
        """
        texts = [(self._names.get(each), joined(parts)) for each, parts in self._artifacts.items()]
        if self._ours:
            texts = [(name, text) for name, text in texts if name != PLAN_ARTIFACT]
            texts = [(name, text) for name, text in texts if name == RESPONSE_ARTIFACT and text] or texts
        return "\n\n".join(text for _, text in texts if text.strip()) or self.said

    def _apply_status_update(self, update: TaskStatusUpdateEvent) -> dict[str, Any]:
        self.task_id, self.context_id = update.task_id, update.context_id
        metadata = _struct(update.metadata)
        self._note(metadata)
        self._apply_status(update.status)
        return metadata

    def _apply_status(self, status: TaskStatus) -> None:
        self.state = STATES.get(status.state, self.state)
        if status.HasField("message"):
            self.said = _text(status.message) or self.said
            self.question = "\n".join(part.text for part in status.message.parts if part.text)
            self.asked = [
                value
                for part in status.message.parts
                if part.HasField("data") and isinstance(value := json_format.MessageToDict(part.data), dict)
            ]

    def _apply_artifact_update(self, update: TaskArtifactUpdateEvent) -> None:
        self.task_id, self.context_id = update.task_id, update.context_id
        if update.append:
            self._artifacts.setdefault(update.artifact.artifact_id, []).extend(_pieces(update.artifact))
        else:
            self._set_artifact(update.artifact)

    def _apply_message(self, message: Message) -> None:
        self.context_id = message.context_id or self.context_id
        self.said = _text(message)
        self.state = DelegationState.COMPLETED

    def _set_artifact(self, artifact: Artifact) -> None:
        self._artifacts[artifact.artifact_id] = _pieces(artifact)
        self._names[artifact.artifact_id] = artifact.name

    def _note(self, metadata: Mapping[str, Any]) -> None:
        error, usage = metadata.get(ERROR_EXTENSION), metadata.get(USAGE_EXTENSION)
        tree = metadata.get(TREE_EXTENSION)
        if isinstance(tree, Mapping):
            self.tree = tree
        if isinstance(error, Mapping):
            self.error = error
        if isinstance(usage, Mapping):
            self.usage = parse_usage(usage) or self.usage


def _pieces(artifact: Artifact) -> list[Said]:
    return [said(part) for part in artifact.parts]


def _text(message: Message) -> str:
    return "\n".join(text for part in message.parts if (text := said(part).text))


def _struct(struct: Any) -> dict[str, Any]:
    return dict(json_format.MessageToDict(struct))
