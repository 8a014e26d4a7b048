"""The state of a remote task, folded from the client's events. Pure: no network, no clock."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass, field
from typing import assert_never

from utils.a2a_common.client.delegation.part_text import joined, piece_of
from utils.a2a_common.client.delegation.remote_files import RemoteFile, file_of
from utils.a2a_common.client.delegation.seen_artifacts import seen_artifact
from utils.a2a_common.client.stream.events import (
    WAITING_STATES,
    ActivityReported,
    AgentAway,
    ArtifactChanged,
    MessageReceived,
    PeerEvent,
    StatusChanged,
    TaskSnapshot,
)
from utils.a2a_common.protocol.extensions import TaskError
from utils.a2a_common.protocol.task_tree import SubTasks
from utils.events import (
    ContentPart,
    ContextMeasured,
    DataPart,
    DelegationState,
    FileBytes,
    FileUrl,
    PlanUpdated,
    SuggestionsReady,
    TextPart,
    UsageReported,
)

_MESSAGE = ""
"""Key of the parts of the newest message, which is no artifact: an artifact has an id."""

_OPEN = (DelegationState.SUBMITTED, DelegationState.WORKING)


@dataclass(slots=True)
class ArtifactView:
    """An artifact as far as it arrived."""

    name: str
    parts: list[ContentPart]


@dataclass(slots=True)
class TaskView:
    """The state of one task, or of a plain message that an agent answered with.

    Attributes:
        task_id: Id given by the agent; empty until it answered.
        context_id: The conversation there; empty until it answered.
        received: Whether any event was applied.
        state: The newest state.
        status: Parts of the newest status message, or of a plain message. A message of an earlier state is dropped where a turn ends
            without a message, but for its files: progress is no answer and no question.
        origin: Which agent asks, where the status is another agent's question.
        message_id: Id of the newest status message.
        artifacts: By id, in the order in which they began.
        kept: Those that the last snapshot did not contain: they came before the stream broke, and stay until the agent
            sends others.
        message: Parts of a plain message; `None` where the agent made a task.
        seen: Digests of the artifacts that were there at an earlier question of the task.
        error: Why the task failed, or why its answer is only a part.
        plan: The newest plan.
        usage: Tokens that the agent reported.
        context: What its last model request held.
        suggestions: What may be asked next.
        sub_tasks: The tasks that it caused at other agents.
    """

    task_id: str = ""
    context_id: str = ""
    received: bool = False
    state: DelegationState = DelegationState.SUBMITTED
    status: Sequence[ContentPart] = ()
    origin: str = ""
    message_id: str = ""
    artifacts: dict[str, ArtifactView] = field(default_factory=dict)
    kept: set[str] = field(default_factory=set)
    message: Sequence[ContentPart] | None = None
    seen: Container[str] = ()
    error: TaskError | None = None
    plan: PlanUpdated | None = None
    usage: UsageReported | None = None
    context: ContextMeasured | None = None
    suggestions: SuggestionsReady | None = None
    sub_tasks: SubTasks | None = None
    _status_state: DelegationState = DelegationState.SUBMITTED

    @property
    def open(self) -> bool:
        """Whether the task still works."""
        return self.state in _OPEN

    @property
    def waits(self) -> bool:
        """Whether the task waits for the user."""
        return self.state in WAITING_STATES

    @property
    def question(self) -> str:
        """The text of the newest status message, without its data parts; of new artifacts if a question has no message."""
        if (held := self._asking_artifacts) is not None:
            texts = [joined(piece_of(part) for part in parts if isinstance(part, TextPart)) for parts in held]
            return "\n\n".join(text for text in texts if text.strip())
        return "\n".join(part.text for part in self.status if isinstance(part, TextPart))

    @property
    def asked(self) -> Sequence[DataPart]:
        """The data parts of that message or those artifacts: the form of a question, or other data that an agent asks with."""
        held = self._asking_artifacts
        parts = self.status if held is None else [part for parts in held for part in parts]
        return [part for part in parts if isinstance(part, DataPart)]

    @property
    def marks(self) -> list[str]:
        """Digests of the current artifacts, which show at a later question what is new."""
        return [seen_artifact(key, artifact.parts) for key, artifact in self.artifacts.items()]

    @property
    def _asking_artifacts(self) -> list[Sequence[ContentPart]] | None:
        """The artifacts that state the question if its message has neither text nor data; `None` if it has some, or if there is no question."""
        if not self.waits or any(isinstance(part, TextPart | DataPart) for part in self.status):
            return None
        held = [(seen_artifact(key, each.parts), each.parts) for key, each in self.artifacts.items()]
        return [parts for mark, parts in held if mark not in self.seen]

    @property
    def status_text(self) -> str:
        """The text of the newest status message, or of the plain message."""
        return self._status_text()

    def text(self, takes: Container[str] = ()) -> str:
        """The text of the answer: that of all artifacts, in which each file is named, or else of the status message.

        Where the stream broke, the status message may hold what the artifacts lack, and follows them.

        Args:
            takes: Media types of the files that the model is shown beside this text.
        """
        texts = [
            joined(piece_of(part, takes) for part in artifact.parts) for artifact in self.artifacts.values()
        ]
        texts = [text for text in texts if text.strip()]
        return "\n\n".join(
            texts if texts and not self.kept else filter(None, [*texts, self._status_text(takes)])
        )

    def text_without(self, reported: str) -> str:
        """The text of all artifacts and of the status message; the latter is left out if it equals `reported`."""
        status = "" if self._status_text().strip() == reported.strip() else self._status_text()
        texts = [joined(map(piece_of, artifact.parts)) for artifact in self.artifacts.values()]
        return "\n\n".join(text for text in (*texts, status) if text.strip())

    @property
    def text_without_files(self) -> str:
        """The text of the answer, without the files that can be passed on; for any other file it says why it is not shown."""
        kept = (filter(_is_shown_as_text, each.parts) for each in self.artifacts.values())
        texts = [joined(map(piece_of, parts)) for parts in kept]
        return "\n\n".join(text for text in texts if text.strip())

    def _status_text(self, takes: Container[str] = ()) -> str:
        return "\n".join(text for part in self.status if (text := piece_of(part, takes).text))

    @property
    def files(self) -> list[RemoteFile]:
        """The files of its artifacts and of its newest message, made safe to pass on, each once: an agent that reports a
        file while it works puts it into an artifact too.
        """
        holders = {key: artifact.parts for key, artifact in self.artifacts.items()} | {_MESSAGE: self.status}
        places = [
            (f"{key}/{number}", part)
            for key, parts in holders.items()
            for number, part in enumerate(part for part in parts if isinstance(part, FileBytes | FileUrl))
        ]
        found: dict[FileBytes | FileUrl, RemoteFile] = {}
        for place, part in places:
            if (file := file_of(part)) is not None:
                found.setdefault(file, RemoteFile(place, file))
        return list(found.values())

    def apply(self, event: PeerEvent) -> None:
        """Take in one event."""
        self.received = True
        match event:
            case TaskSnapshot():
                self.kept = set(self.artifacts)
                self._place(event)
            case StatusChanged():
                self._place(event)
                self._set_status(event)
            case ArtifactChanged():
                self._extend(event)
            case MessageReceived():
                self.message = self.status = event.parts
                self.context_id = event.context_id or self.context_id
                self.state = DelegationState.COMPLETED
            case _:
                self._note(event)

    def _place(self, event: TaskSnapshot | StatusChanged) -> None:
        self.task_id = event.task_id or self.task_id
        self.context_id = event.context_id or self.context_id
        self.state = event.state

    def _set_status(self, event: StatusChanged) -> None:
        self.origin = event.origin
        if event.parts:
            self.status, self.message_id = event.parts, event.message_id
            self._status_state = event.state
        elif not self.open and event.state is not self._status_state:
            self.status = [part for part in self.status if isinstance(part, FileBytes | FileUrl)]
            self.message_id = event.message_id

    def _extend(self, event: ArtifactChanged) -> None:
        known = self.artifacts.get(event.artifact_id)
        if event.append and known is not None:
            known.parts.extend(event.parts)
            self.kept.discard(event.artifact_id)
        else:
            for replaced in self.kept:
                del self.artifacts[replaced]
            self.kept.clear()
            self.artifacts[event.artifact_id] = ArtifactView(event.name, list(event.parts))

    def _note(
        self,
        event: ActivityReported
        | TaskError
        | PlanUpdated
        | UsageReported
        | ContextMeasured
        | SuggestionsReady
        | SubTasks
        | AgentAway,
    ) -> None:
        match event:
            case TaskError():
                self.error = event
            case PlanUpdated():
                self.plan = event
            case UsageReported():
                self.usage = event
            case ContextMeasured():
                self.context = event
            case SuggestionsReady():
                self.suggestions = event
            case SubTasks():
                self.sub_tasks = event
            case ActivityReported() | AgentAway():
                pass  # progress only, no state of the task
            case _:
                assert_never(event)


def _is_shown_as_text(part: ContentPart) -> bool:
    """Whether a part is no file, or a file that cannot be passed on."""
    return not isinstance(part, FileBytes | FileUrl) or file_of(part) is None
