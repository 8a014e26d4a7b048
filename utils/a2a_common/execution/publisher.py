"""Publishes `AgentEvent`s as A2A events: one exhaustive match."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, assert_never
from uuid import uuid4

from utils.a2a_common.execution.artifact_encoding import accepted_parts
from utils.a2a_common.execution.event_sink import EventSink
from utils.a2a_common.execution.own_artifacts import OwnArtifacts
from utils.a2a_common.protocol.extensions import (
    ACTIVITY_EXTENSION,
    CONTEXT_EXTENSION,
    ERROR_EXTENSION,
    NEXT_EXTENSION,
    QUESTION_EXTENSION,
    TRACE_EXTENSION,
    USAGE_EXTENSION,
    activity_payload,
    context_payload,
    error_payload,
    question_payload,
    suggestions_payload,
    usage_payload,
)
from utils.a2a_common.protocol.media_modes import ALL, JSON, Accepted
from utils.a2a_common.protocol.parts import data_part, encode_part
from utils.events import (
    AgentEvent,
    ArtifactAdded,
    Completed,
    ContextCompacted,
    ContextMeasured,
    DelegationFinished,
    DelegationProgress,
    DelegationStarted,
    Failed,
    InputRequired,
    MessageAnswer,
    MetadataReported,
    ModelReasoned,
    ModelRetried,
    ModelWaited,
    Partial,
    PlanUpdated,
    Rejected,
    RuleChanged,
    StatusText,
    SuggestionsReady,
    TextDelta,
    TextPart,
    TextRestarted,
    ToolFinished,
    ToolStarted,
    UsageReported,
)

if TYPE_CHECKING:
    from a2a.types.a2a_pb2 import Artifact, Message, TaskState

MOST_STATUS_TEXTS = 100
"""Status texts of one turn that are sent with their words. The SDK moves each to the task's history, which is stored."""

LONGEST_STATUS_TEXT = 1_000
"""Characters of a status text: a sentence, not an answer."""


class Publisher:
    """Publishes the events of one run of one task, each passed to `note` too.

    Args:
        sink: Takes what is published.
        agent: Name of the agent.
        trace_id: Sent with the end of the turn.
        note: Is called with each event.
        accepted: What the client accepts.
        known: Artifacts that earlier turns of the task published.
        plan_artifact: Whether the client asked for the plan as an artifact.

    Attributes:
        ended: Whether the end of the run was published.
    """

    def __init__(
        self,
        sink: EventSink,
        *,
        agent: str,
        trace_id: str,
        note: Callable[[AgentEvent], None],
        accepted: Accepted = ALL,
        known: Iterable[Artifact] = (),
        plan_artifact: bool = False,
    ) -> None:
        self._sink = sink
        self._accepted = accepted
        self._artifacts = OwnArtifacts(sink, accepted, known)
        self._status_texts = 0
        self._agent = agent
        self._trace_id = trace_id
        self._note = note
        self._response = sink.response
        self._takes_data = accepted.takes(JSON)
        self._plan_artifact = plan_artifact and self._takes_data
        self._facts: dict[str, Any] = {TRACE_EXTENSION: {"trace_id": trace_id}} if trace_id else {}
        self.ended = False

    async def publish(self, event: AgentEvent) -> None:
        """Put one event on the wire, after all text that was said before it."""
        from a2a.types.a2a_pb2 import TaskState

        self._note(event)
        match event:
            case TextDelta(text=text, origin=origin):
                await self._response.write(text, origin)
            case TextRestarted():
                self._response.restart()
            case PlanUpdated():
                await self._sink.plan(event, as_artifact=self._plan_artifact)
            case UsageReported():
                self._facts[USAGE_EXTENSION] = usage_payload(event)
            case ContextMeasured():
                self._facts[CONTEXT_EXTENSION] = context_payload(event)
            case SuggestionsReady():
                self._facts[NEXT_EXTENSION] = suggestions_payload(event)
            case (
                ToolStarted()
                | ToolFinished()
                | DelegationStarted()
                | DelegationProgress()
                | DelegationFinished()
                | ContextCompacted()
                | ModelRetried()
                | ModelWaited()
                | ModelReasoned()
                | RuleChanged()
            ):
                metadata = {ACTIVITY_EXTENSION: activity_payload(event, self._agent)}
                await self._sink.status(TaskState.TASK_STATE_WORKING, metadata=metadata)
            case ArtifactAdded():
                await self._artifacts.publish(event)
            case StatusText(text=text):
                await self._status_text(text)
            case MetadataReported():
                await self._metadata(event)
            case InputRequired(auth=auth):
                waits = TaskState.TASK_STATE_AUTH_REQUIRED if auth else TaskState.TASK_STATE_INPUT_REQUIRED
                await self._end(waits, self._ask(event))
            case MessageAnswer():
                await self._answer(event)
            case Completed(partial=partial):
                await self._complete(partial)
            case Failed():
                await self._fail(event)
            case Rejected(reason=reason, code=code):
                error = {ERROR_EXTENSION: error_payload(Failed(code, reason), self._trace_id)}
                await self._end(TaskState.TASK_STATE_REJECTED, self._say(reason), error)
            case _:
                assert_never(event)

    def discard(self) -> None:
        """Publish no more text: the run was stopped."""
        self._response.discard()

    async def _end(
        self, state: TaskState, message: Message | None = None, metadata: dict[str, Any] | None = None
    ) -> None:
        self.ended = True
        await self._sink.status(state, message=message, metadata={**self._facts, **(metadata or {})} or None)

    async def _complete(self, partial: Partial | None) -> None:
        """End a task that was done. What was left out is named in the answer; a client that could be sent nothing fails."""
        from a2a.types.a2a_pb2 import TaskState

        if self._response.unsent and not self._artifacts.published:
            await self._fail(_NOTHING_ACCEPTED)
            return
        quoted = [f"> {sentence}" for sentence in self._artifacts.left_out]
        for paragraph in filter(None, [self._artifacts.passed_on, *quoted]):
            await self._response.write(f"\n\n{paragraph}")
        if self._artifacts.left_out and partial is None:
            partial = Partial("left_out", " ".join(self._artifacts.left_out))
        short = {ERROR_EXTENSION: error_payload(partial, self._trace_id)} if partial else None
        await self._end(TaskState.TASK_STATE_COMPLETED, metadata=short)

    async def _fail(self, event: Failed) -> None:
        from a2a.types.a2a_pb2 import TaskState

        error = {ERROR_EXTENSION: error_payload(event, self._trace_id)}
        await self._end(TaskState.TASK_STATE_FAILED, self._say(event.message), error)

    async def _answer(self, event: MessageAnswer) -> None:
        parts, left_out = accepted_parts(event.parts, self._accepted)
        if not parts:
            await self._fail(_NOTHING_ACCEPTED)
            return
        parts += [
            TextPart(sentence, self._accepted.text) for sentence in left_out if self._accepted.takes_text
        ]
        message = self._say("", event.metadata)
        del message.parts[:]
        message.parts.extend(map(encode_part, parts))
        self.ended = True
        await self._sink.message(message, metadata=self._facts or None)

    async def _metadata(self, event: MetadataReported) -> None:
        from a2a.types.a2a_pb2 import TaskState

        await self._sink.status(TaskState.TASK_STATE_WORKING, metadata={event.uri: dict(event.payload)})

    async def _status_text(self, text: str) -> None:
        """Say what is done now; once there were many, without words, so that the history stays small."""
        from a2a.types.a2a_pb2 import TaskState

        self._status_texts += 1
        if self._status_texts > MOST_STATUS_TEXTS:
            return
        await self._sink.status(TaskState.TASK_STATE_WORKING, message=self._say(text[:LONGEST_STATUS_TEXT]))

    def _say(self, text: str, metadata: Mapping[str, Mapping[str, Any]] | None = None) -> Message:
        from a2a.types.a2a_pb2 import Message, Part, Role

        message = Message(message_id=str(uuid4()), role=Role.ROLE_AGENT, parts=[Part(text=text)])
        if metadata:
            message.metadata.update(metadata)
            message.extensions.extend(metadata)
        return message

    def _ask(self, event: InputRequired) -> Message:
        message = self._say(event.question)
        if event.origin and event.origin != self._agent:
            message.metadata.update({QUESTION_EXTENSION: question_payload(event.origin)})
        if event.form is not None and self._takes_data:
            message.parts.append(data_part({"form": dict(event.form), "origin": event.origin}))
        return message


_NOTHING_ACCEPTED = Failed(
    "output_not_accepted",
    "The answer is of a type that is not among the accepted output modes. Accept text/markdown or text/plain too.",
)
