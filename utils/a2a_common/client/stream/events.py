"""The events of a task at another agent: those of `utils/events.py`, and those that only a client needs.

The same union is used for an agent of this project and for a foreign one. Events hold plain values, no wire types.
What a peer sent is a peer's data: parsed leniently, and cleaned by the code that shows it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from utils.a2a_common.protocol.extensions import TaskError
from utils.a2a_common.protocol.task_tree import SubTasks
from utils.events import (
    Activity,
    ContentPart,
    ContextMeasured,
    DelegationState,
    PlanUpdated,
    SuggestionsReady,
    UsageReported,
)

WAITING_STATES = frozenset({DelegationState.INPUT_REQUIRED, DelegationState.AUTH_REQUIRED})
"""States in which the same task waits for the user's answer."""

SETTLED_STATES = WAITING_STATES | {
    DelegationState.COMPLETED,
    DelegationState.FAILED,
    DelegationState.REJECTED,
    DelegationState.CANCELED,
}
"""States in which a turn is over: nothing follows until the user sends a message."""

ENDED_STATES = SETTLED_STATES - WAITING_STATES
"""States that no task leaves again."""


@dataclass(frozen=True, slots=True)
class TaskSnapshot:
    """The current state of the task. Its artifacts follow and replace the earlier ones; if none follow, the earlier ones stay."""

    task_id: str
    context_id: str
    state: DelegationState


@dataclass(frozen=True, slots=True)
class StatusChanged:
    """The task's state as it was just reported.

    Attributes:
        parts: The agent's message, where it sent one.
        origin: Which agent asks, where the message is another agent's question.
        message_id: Id of that message; an answer names the question by it.
    """

    task_id: str
    context_id: str
    state: DelegationState
    parts: Sequence[ContentPart] = ()
    origin: str = ""
    message_id: str = ""


@dataclass(frozen=True, slots=True)
class ArtifactChanged:
    """A chunk of an artifact. `append=False` begins the artifact, or replaces it."""

    artifact_id: str
    name: str
    parts: Sequence[ContentPart]
    append: bool = False


@dataclass(frozen=True, slots=True)
class MessageReceived:
    """The agent answered with a plain message and no task."""

    parts: Sequence[ContentPart]
    context_id: str = ""


@dataclass(frozen=True, slots=True)
class ActivityReported:
    """A tool or a delegation of `agent` started, went on or ended, or its context was made smaller."""

    agent: str
    activity: Activity


@dataclass(frozen=True, slots=True)
class AgentAway:
    """The agent accepts no request now, or cannot be reached while its task is open. The client retries.

    Attributes:
        seconds: How long is waited before the next try.
        busy: Whether it answered that it is busy; else it did not answer.
    """

    seconds: float
    busy: bool


PeerEvent = (
    TaskSnapshot
    | StatusChanged
    | ArtifactChanged
    | MessageReceived
    | ActivityReported
    | TaskError
    | SubTasks
    | PlanUpdated
    | UsageReported
    | ContextMeasured
    | SuggestionsReady
    | AgentAway
)
"""Everything that following a task may yield."""
