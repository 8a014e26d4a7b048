"""What a conversation with an agent consists of, free of wire types. Each event is one line of `--json`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from utils.events import PlanStep

SETTLED_STATES = frozenset({"completed", "failed", "rejected", "canceled", "input-required", "auth-required"})
"""States in which a turn is over: nothing follows until the user speaks again."""

WAITING_STATES = frozenset({"input-required", "auth-required"})
"""States in which the same task waits for the user's answer."""


@dataclass(frozen=True, slots=True)
class TaskSeen:
    """A task exists, in this state. Comes first, and again whenever a snapshot is read."""

    task_id: str
    context_id: str
    state: str


@dataclass(frozen=True, slots=True)
class StatusSeen:
    """The task's state as it was just reported.

    Attributes:
        message: The agent's sentence, where it sent one.
        origin: Which agent asks, where the sentence is another agent's question.
    """

    task_id: str
    context_id: str
    state: str
    message: str = ""
    origin: str = ""


@dataclass(frozen=True, slots=True)
class TextSeen:
    """A piece of an artifact as text. `append=False` starts the artifact anew."""

    artifact_id: str
    name: str
    text: str
    append: bool


@dataclass(frozen=True, slots=True)
class PlanSeen:
    """The whole plan as it stands, in order."""

    steps: Sequence[PlanStep]


@dataclass(frozen=True, slots=True)
class ActivitySeen:
    """A tool or a delegation started, went on or ended: the payload of the activity extension."""

    activity: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class UsageSeen:
    """Tokens used in this turn: the payload of the usage extension."""

    usage: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ContextSeen:
    """What the agent's last model request held: the payload of the context extension."""

    context: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class NextSeen:
    """What the user is likely to ask next, likeliest first: the payload of the next extension."""

    requests: Sequence[str]


@dataclass(frozen=True, slots=True)
class ErrorSeen:
    """Why the task failed, or why its answer is only a part: a code, a sentence for people, a trace id."""

    code: str
    message: str
    retryable: bool = False
    trace_id: str = ""


@dataclass(frozen=True, slots=True)
class MessageSeen:
    """The agent answered with a plain message and no task."""

    text: str
    context_id: str


PeerEvent = (
    TaskSeen
    | StatusSeen
    | TextSeen
    | PlanSeen
    | ActivitySeen
    | UsageSeen
    | ContextSeen
    | NextSeen
    | ErrorSeen
    | MessageSeen
)

_NAMES: Mapping[type, str] = {
    TaskSeen: "task",
    StatusSeen: "status",
    TextSeen: "text",
    PlanSeen: "plan",
    ActivitySeen: "activity",
    UsageSeen: "usage",
    ContextSeen: "context",
    NextSeen: "next",
    ErrorSeen: "error",
    MessageSeen: "message",
}


def as_json(event: PeerEvent) -> dict[str, Any]:
    """The event as the JSON object that `--json` prints: its fields and `event`, its kind."""
    return {"event": _NAMES[type(event)], **asdict(event)}
