"""`AgentEvent` -> A2A: one exhaustive match."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, assert_never
from uuid import uuid4

from utils.a2a_common.execution.event_sink import EventSink
from utils.a2a_common.execution.response_stream import ResponseStream
from utils.a2a_common.protocol.extensions import (
    ACTIVITY_EXTENSION,
    CONTEXT_EXTENSION,
    ERROR_EXTENSION,
    NEXT_EXTENSION,
    PLAN_ARTIFACT,
    QUESTION_EXTENSION,
    USAGE_EXTENSION,
    activity_payload,
    context_payload,
    error_payload,
    plan_payload,
    usage_payload,
)
from utils.a2a_common.protocol.output_modes import ALL, JSON, Accepted
from utils.events import (
    AgentEvent,
    Completed,
    ContextCompacted,
    ContextMeasured,
    DelegationFinished,
    DelegationProgress,
    DelegationStarted,
    Failed,
    InputRequired,
    ModelRetried,
    PlanUpdated,
    SuggestionsReady,
    TextDelta,
    TextRestarted,
    ToolFinished,
    ToolStarted,
    UsageReported,
)

if TYPE_CHECKING:
    from a2a.types.a2a_pb2 import Message, Part, TaskState


class Publisher:
    """Publishes the events of one run of one task, each told to `note` too."""

    def __init__(
        self,
        sink: EventSink,
        *,
        agent: str,
        trace_id: str,
        note: Callable[[AgentEvent], None],
        accepted: Accepted = ALL,
    ) -> None:
        self._sink = sink
        self._agent = agent
        self._trace_id = trace_id
        self._note = note
        self._response = ResponseStream(sink, accepted.text)
        self._takes_data = accepted.takes(JSON)
        self._facts: dict[str, Any] = {}

    async def publish(self, event: AgentEvent) -> None:
        """Put one event on the wire, after all text that was said before it."""
        from a2a.types.a2a_pb2 import TaskState

        self._note(event)
        match event:
            case TextDelta(text=text):
                await self._response.write(text)
            case TextRestarted():
                self._response.restart()
            case PlanUpdated():
                await self._plan(event)
            case UsageReported():
                self._facts[USAGE_EXTENSION] = usage_payload(event)
            case ContextMeasured():
                self._facts[CONTEXT_EXTENSION] = context_payload(event)
            case SuggestionsReady(requests=requests):
                self._facts[NEXT_EXTENSION] = {"requests": list(requests)}
            case (
                ToolStarted()
                | ToolFinished()
                | DelegationStarted()
                | DelegationProgress()
                | DelegationFinished()
                | ContextCompacted()
                | ModelRetried()
            ):
                await self._response.flush()
                metadata = {ACTIVITY_EXTENSION: activity_payload(event, self._agent)}
                await self._sink.status(TaskState.TASK_STATE_WORKING, metadata=metadata)
            case InputRequired(auth=auth):
                waits = TaskState.TASK_STATE_AUTH_REQUIRED if auth else TaskState.TASK_STATE_INPUT_REQUIRED
                await self._end(waits, self._ask(event))
            case Completed(partial=partial):
                short = {ERROR_EXTENSION: error_payload(partial, self._trace_id)} if partial else None
                await self._end(TaskState.TASK_STATE_COMPLETED, metadata=short)
            case Failed():
                error = {ERROR_EXTENSION: error_payload(event, self._trace_id)}
                await self._end(TaskState.TASK_STATE_FAILED, self._say(event.message), error)
            case _:
                assert_never(event)

    def discard(self) -> None:
        """Publish no more text: the run was stopped."""
        self._response.discard()

    async def _end(
        self, state: TaskState, message: Message | None = None, metadata: dict[str, Any] | None = None
    ) -> None:
        await self._response.flush(last=True)
        await self._sink.status(state, message=message, metadata={**self._facts, **(metadata or {})} or None)

    async def _plan(self, event: PlanUpdated) -> None:
        from a2a.types.a2a_pb2 import Artifact

        if not self._takes_data:
            return
        part = _data_part(plan_payload(event))
        await self._sink.artifact(Artifact(artifact_id=PLAN_ARTIFACT, name=PLAN_ARTIFACT, parts=[part]))

    def _say(self, text: str) -> Message:
        from a2a.types.a2a_pb2 import Message, Part, Role

        return Message(message_id=str(uuid4()), role=Role.ROLE_AGENT, parts=[Part(text=text)])

    def _ask(self, event: InputRequired) -> Message:
        message = self._say(event.question)
        if event.origin and event.origin != self._agent:
            message.metadata.update({QUESTION_EXTENSION: {"origin": event.origin}})
        if event.form is not None and self._takes_data:
            message.parts.append(_data_part({"form": dict(event.form), "origin": event.origin}))
        return message


def _data_part(value: dict[str, Any]) -> Part:
    from a2a.types.a2a_pb2 import Part
    from google.protobuf import json_format, struct_pb2

    return Part(data=json_format.ParseDict(value, struct_pb2.Value()), media_type="application/json")
