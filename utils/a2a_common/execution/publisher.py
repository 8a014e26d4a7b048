"""`Publisher`: publishes `AgentEvent`s as A2A events, by one exhaustive match."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, assert_never

from utils.a2a_common.execution.agent_messages import agent_message, answer_message, question_message
from utils.a2a_common.execution.artifact_encoding import accepted_parts
from utils.a2a_common.execution.own_artifacts import OwnArtifacts
from utils.a2a_common.execution.response_stream import ResponseStream
from utils.a2a_common.protocol.extensions import (
    ACTIVITY_EXTENSION,
    ACTIVITY_PLAN,
    CONTEXT_EXTENSION,
    ERROR_EXTENSION,
    NEXT_EXTENSION,
    PLAN_ARTIFACT,
    TRACE_EXTENSION,
    USAGE_EXTENSION,
    activity_payload,
    context_payload,
    error_payload,
    plan_payload,
    suggestions_payload,
    usage_payload,
)
from utils.a2a_common.protocol.left_open import closed_plan
from utils.a2a_common.protocol.media_modes import ALL, JSON, Accepted
from utils.a2a_common.protocol.parts import data_part
from utils.errors import OutcomeUnknown
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
from utils.messages.characters import of_whole_characters

if TYPE_CHECKING:
    from a2a.server.events import EventQueue
    from a2a.types.a2a_pb2 import Artifact, Message, Task, TaskState

    from utils.a2a_common.protocol.task_tree import TaskTree

MOST_STATUS_TEXTS = 100
"""Status texts of one turn that are sent with their text. The SDK moves each to the task's history, which is stored."""

LONGEST_STATUS_TEXT = 1_000
"""Characters of a status text: a sentence, not an answer."""


class Publisher:
    """Publishes the events of one run of one task. Text that waits goes before every other event.

    Args:
        queue: Takes the A2A events.
        task_id: The task.
        context_id: Its conversation.
        agent: Name of the agent.
        accepted: What the client accepts.
        known: Artifacts that earlier turns of the task published.
        plan_artifact: Whether the client asked for the plan as an artifact.
        shown_plan: The plan as that artifact of an earlier turn shows it.
        tree: The tasks below this one; each status carries what changed in it.

    Attributes:
        note: Is called with each event.
        trace_id: Sent with the end of the turn.
        ended: Whether the end of the run was published.
    """

    def __init__(
        self,
        queue: EventQueue,
        task_id: str,
        context_id: str,
        *,
        agent: str,
        accepted: Accepted = ALL,
        known: Iterable[Artifact] = (),
        plan_artifact: bool = False,
        shown_plan: PlanUpdated | None = None,
        tree: TaskTree | None = None,
    ) -> None:
        self._queue = queue
        self._task_id, self._context_id = task_id, context_id
        self._agent = agent
        self._accepted = accepted
        self._artifacts = OwnArtifacts(self._artifact, accepted, known)
        self._response = ResponseStream(self._send_artifact, accepted.text if accepted.takes_text else None)
        self._takes_data = accepted.takes(JSON)
        self._plan_artifact = plan_artifact and self._takes_data
        self._shown_plan = shown_plan
        self._tree = tree
        self._unsent: Task | None = None
        self._status_texts = 0
        self._facts: dict[str, Any] = {}
        self.note: Callable[[AgentEvent], None] = lambda _: None
        self.trace_id = ""
        self.ended = False

    async def task(self, task: Task, *, later: bool = False) -> None:
        """Publish the task itself, the first event of a new one.

        Args:
            task: The task.
            later: Hold it back until something else than a message is published: an answer as a message has no task.
        """
        if later:
            self._unsent = task
        else:
            await self._safe_enqueue_event(self._queue, task)

    async def working(self) -> None:
        """Publish that the task is being worked on."""
        from a2a.types.a2a_pb2 import TaskState

        await self._status(TaskState.TASK_STATE_WORKING)

    async def canceled(self, unknown: str = "") -> None:
        """Publish that the task was canceled.

        Args:
            unknown: A sentence that names the calls whose outcome is unknown.
        """
        from a2a.types.a2a_pb2 import TaskState

        message = agent_message(f"Canceled. {unknown}") if unknown else None
        failed = Failed(OutcomeUnknown.code, unknown)
        error = {ERROR_EXTENSION: error_payload(failed, self.trace_id)} if unknown else {}
        await self._status(TaskState.TASK_STATE_CANCELED, message, {**self._trace(), **error} or None)

    async def publish(self, event: AgentEvent) -> None:
        """Send one event, after all text before it."""
        from a2a.types.a2a_pb2 import TaskState

        event = of_whole_characters(event)
        self.note(event)
        if self._tree is not None:
            self._tree.note(event)
        match event:
            case TextDelta(text=text, origin=origin):
                await self._response.write(text, origin)
            case TextRestarted():
                self._response.restart()
            case PlanUpdated():
                await self._plan(event)
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
                await self._status(TaskState.TASK_STATE_WORKING, metadata=metadata)
            case ArtifactAdded():
                await self._artifacts.publish(event)
            case StatusText(text=text):
                await self._status_text(text)
            case MetadataReported():
                await self._metadata(event)
            case InputRequired(auth=auth):
                waits = TaskState.TASK_STATE_AUTH_REQUIRED if auth else TaskState.TASK_STATE_INPUT_REQUIRED
                await self._end(waits, question_message(event, self._agent, form=self._takes_data))
            case MessageAnswer():
                await self._answer(event)
            case Completed(partial=partial):
                await self._complete(partial)
            case Failed():
                await self._fail(event)
            case Rejected(reason=reason, code=code):
                error = {ERROR_EXTENSION: error_payload(Failed(code, reason), self.trace_id)}
                await self._end(TaskState.TASK_STATE_REJECTED, agent_message(reason), error)
            case _:
                assert_never(event)

    def discard(self) -> None:
        """Publish no more text: the run was stopped."""
        self._response.discard()

    async def _end(
        self, state: TaskState, message: Message | None = None, metadata: dict[str, Any] | None = None
    ) -> None:
        self.ended = True
        await self._status(
            state, message=message, metadata={**self._trace(), **self._facts, **(metadata or {})} or None
        )

    async def _complete(self, partial: Partial | None) -> None:
        """End a completed task. The answer names what was left out; if the client could get no part of the answer, the task fails."""
        from a2a.types.a2a_pb2 import TaskState

        if self._response.unsent and not self._artifacts.published:
            await self._fail(_NOTHING_ACCEPTED)
            return
        quoted = [f"> {sentence}" for sentence in self._artifacts.left_out]
        for paragraph in filter(None, [self._artifacts.passed_on, *quoted]):
            await self._response.write(f"\n\n{paragraph}")
        if self._artifacts.left_out and partial is None:
            partial = Partial("left_out", " ".join(self._artifacts.left_out))
        short = {ERROR_EXTENSION: error_payload(partial, self.trace_id)} if partial else None
        await self._end(TaskState.TASK_STATE_COMPLETED, metadata=short)

    async def _fail(self, event: Failed) -> None:
        from a2a.types.a2a_pb2 import TaskState

        error = {ERROR_EXTENSION: error_payload(event, self.trace_id)}
        await self._end(TaskState.TASK_STATE_FAILED, agent_message(event.message), error)

    async def _answer(self, event: MessageAnswer) -> None:
        """Publish the complete answer as one message."""
        from a2a.types.a2a_pb2 import TaskState

        parts, left_out = accepted_parts(event.parts, self._accepted)
        if not parts:
            await self._fail(_NOTHING_ACCEPTED)
            return
        parts += [
            TextPart(sentence, self._accepted.text) for sentence in left_out if self._accepted.takes_text
        ]
        message = answer_message(parts, event.metadata)
        facts = {**self._trace(), **self._facts} or None
        self.ended = True
        if self._unsent is None:  # a task was published: the message ends it
            await self._status(TaskState.TASK_STATE_COMPLETED, message, facts)
        else:
            message.context_id = self._context_id
            await self._safe_enqueue_event(self._queue, message)

    async def _metadata(self, event: MetadataReported) -> None:
        from a2a.types.a2a_pb2 import TaskState

        await self._status(TaskState.TASK_STATE_WORKING, metadata={event.uri: dict(event.payload)})

    async def _status_text(self, text: str) -> None:
        """Publish a status text; after `MOST_STATUS_TEXTS` a status without text, so that the history stays small."""
        from a2a.types.a2a_pb2 import TaskState

        self._status_texts += 1
        if self._status_texts > MOST_STATUS_TEXTS:
            return
        await self._status(TaskState.TASK_STATE_WORKING, agent_message(text[:LONGEST_STATUS_TEXT]))

    async def _plan(self, plan: PlanUpdated) -> None:
        """Publish the plan with a status, and as an artifact where the client asked for it."""
        from a2a.types.a2a_pb2 import TaskState

        await self._status(TaskState.TASK_STATE_WORKING, metadata={ACTIVITY_PLAN: plan_payload(plan)})
        if self._plan_artifact:
            await self._show_plan(plan)

    async def _show_plan(self, plan: PlanUpdated) -> None:
        from a2a.types.a2a_pb2 import Artifact

        self._shown_plan = plan
        part = data_part(plan_payload(plan))
        await self._send_artifact(Artifact(artifact_id=PLAN_ARTIFACT, name=PLAN_ARTIFACT, parts=[part]))

    async def _status(
        self, state: TaskState, message: Message | None = None, metadata: Mapping[str, Any] | None = None
    ) -> None:
        """Publish a status; the text of the answer ends with one that ends the turn. A turn that is canceled has discarded it."""
        from a2a.types.a2a_pb2 import TaskState

        if state != TaskState.TASK_STATE_CANCELED:
            await self._response.flush(last=_ends(state))
        await self._begin()
        if state == TaskState.TASK_STATE_CANCELED:
            await self._close_plan()
        await self._send_status(state, message, metadata)

    async def _artifact(self, artifact: Artifact, *, append: bool, last: bool) -> None:
        """Publish an artifact or a chunk of one."""
        await self._response.flush()
        await self._send_artifact(artifact, append=append, last=last)

    async def _begin(self) -> None:
        """Publish the task that was held back, and that it is worked on."""
        from a2a.types.a2a_pb2 import TaskState

        task, self._unsent = self._unsent, None
        if task is not None:
            await self.task(task)
            await self._send_status(TaskState.TASK_STATE_WORKING)

    async def _close_plan(self) -> None:
        """Show no step as open in the artifact of a task that is canceled. The log closes what is in the metadata."""
        if self._shown_plan is not None and (closed := closed_plan(self._shown_plan)) is not None:
            await self._show_plan(closed)

    async def _send_status(
        self, state: TaskState, message: Message | None = None, metadata: Mapping[str, Any] | None = None
    ) -> None:
        from a2a.types.a2a_pb2 import TaskStatus, TaskStatusUpdateEvent

        below = self._tree.facts(ends=_ends(state)) if self._tree is not None else {}
        event = TaskStatusUpdateEvent(
            task_id=self._task_id,
            context_id=self._context_id,
            status=TaskStatus(state=state, message=message),
            metadata={**below, **(metadata or {})} or None,
        )
        await self._safe_enqueue_event(self._queue, event)

    async def _send_artifact(self, artifact: Artifact, *, append: bool = False, last: bool = True) -> None:
        from a2a.types.a2a_pb2 import TaskArtifactUpdateEvent

        await self._begin()
        event = TaskArtifactUpdateEvent(
            task_id=self._task_id,
            context_id=self._context_id,
            artifact=artifact,
            append=append,
            last_chunk=last,
        )
        await self._safe_enqueue_event(self._queue, event)

    async def _safe_enqueue_event(self, event_queue: EventQueue, event: Any) -> None:
        """Put an event into the queue: the only place where an agent's events leave for the task log.

        A closed queue drops it, which is logged once per task; any other error is raised.
        """
        await event_queue.enqueue_event(event)

    def _trace(self) -> dict[str, Any]:
        return {TRACE_EXTENSION: {"trace_id": self.trace_id}} if self.trace_id else {}


def _ends(state: TaskState) -> bool:
    from a2a.types.a2a_pb2 import TaskState

    return state not in (TaskState.TASK_STATE_WORKING, TaskState.TASK_STATE_SUBMITTED)


_NOTHING_ACCEPTED = Failed(
    "output_not_accepted",
    "The answer is of a type that is not among the accepted output modes. Accept text/markdown or text/plain too.",
)
