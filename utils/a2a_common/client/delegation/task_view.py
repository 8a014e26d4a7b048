"""The state of a remote task, folded from the client's events. Pure: no network, no clock."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass, field
from typing import assert_never

from utils.a2a_common.client.delegation.part_text import joined, said
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
        heard: Whether anything was taken in.
        state: The newest state.
        status: Parts of the newest status message, or of a plain message. What was said in another state is gone where a turn ends
            without a message, but for its files: progress is no answer and no question.
        origin: Which agent asks, where the status is another agent's question.
        message_id: Id of the newest status message.
        artifacts: By id, in the order in which they began.
        kept: Those of them that the task as it was last asked for did not show: they are what the agent said before its stream
            broke, and stay until it sends others.
        message: Parts of a plain message; `None` where the agent made a task.
        seen: Marks of the artifacts that stood there at an earlier question of the task.
        error: Why the task failed, or why its answer is only a part.
        plan: The newest plan.
        usage: Tokens that the agent reported.
        context: What its last model request held.
        suggestions: What may be asked next.
        sub_tasks: The tasks that it caused at other agents.
    """

    task_id: str = ""
    context_id: str = ""
    heard: bool = False
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
    _said_in: DelegationState = DelegationState.SUBMITTED

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
            texts = [joined(said(part) for part in parts if isinstance(part, TextPart)) for parts in held]
            return "\n\n".join(text for text in texts if text.strip())
        return "\n".join(part.text for part in self.status if isinstance(part, TextPart))

    @property
    def asked(self) -> Sequence[DataPart]:
        """The data parts of the same: the form of a question, or whatever data an agent asks with."""
        held = self._asking_artifacts
        parts = self.status if held is None else [part for parts in held for part in parts]
        return [part for part in parts if isinstance(part, DataPart)]

    @property
    def marks(self) -> list[str]:
        """Marks of the artifacts as they are now: by them a later question tells what is new."""
        return [seen_artifact(key, artifact.parts) for key, artifact in self.artifacts.items()]

    @property
    def _asking_artifacts(self) -> list[Sequence[ContentPart]] | None:
        """The artifacts that state the question if its message has neither text nor data; `None` if it has some, or if there is no question."""
        if not self.waits or any(isinstance(part, TextPart | DataPart) for part in self.status):
            return None
        held = [(seen_artifact(key, each.parts), each.parts) for key, each in self.artifacts.items()]
        return [parts for mark, parts in held if mark not in self.seen]

    @property
    def said(self) -> str:
        """The newest status message, or the plain message, in words."""
        return self._said()

    def text(self, takes: Container[str] = ()) -> str:
        """The answer in words: the text of all artifacts, in which each file is named, else the status message's.

        Where the stream broke, the status message may hold what the artifacts lack, and follows them.

        Args:
            takes: Media types of the files that the reading model is shown beside these words.
        """
        texts = [joined(said(part, takes) for part in artifact.parts) for artifact in self.artifacts.values()]
        texts = [text for text in texts if text.strip()]
        return "\n\n".join(texts if texts and not self.kept else filter(None, [*texts, self._said(takes)]))

    def written_besides(self, sentence: str) -> str:
        """All that the agent wrote, artifacts and status message, but for a status message that is the sentence."""
        status = "" if self._said().strip() == sentence.strip() else self._said()
        texts = [joined(map(said, artifact.parts)) for artifact in self.artifacts.values()]
        return "\n\n".join(text for text in (*texts, status) if text.strip())

    @property
    def words(self) -> str:
        """The answer without the files that can be passed on; of any other it says why it is not shown."""
        kept = (filter(_is_told, each.parts) for each in self.artifacts.values())
        texts = [joined(map(said, parts)) for parts in kept]
        return "\n\n".join(text for text in texts if text.strip())

    def _said(self, takes: Container[str] = ()) -> str:
        return "\n".join(text for part in self.status if (text := said(part, takes).text))

    @property
    def files(self) -> list[RemoteFile]:
        """The files of its artifacts and of its newest message, made safe to pass on, each once: agents that tell of a file while
        they work put it into an artifact too.
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
        self.heard = True
        match event:
            case TaskSnapshot():
                self.kept = set(self.artifacts)
                self._place(event)
            case StatusChanged():
                self._place(event)
                self._say(event)
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

    def _say(self, event: StatusChanged) -> None:
        self.origin = event.origin
        if event.parts:
            self.status, self.message_id = event.parts, event.message_id
            self._said_in = event.state
        elif not self.open and event.state is not self._said_in:
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
                pass  # what happens, not what is known of the task
            case _:
                assert_never(event)


def _is_told(part: ContentPart) -> bool:
    """Whether a part is no file, or one that is not passed on."""
    return not isinstance(part, FileBytes | FileUrl) or file_of(part) is None
