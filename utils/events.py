"""What an agent says while it works: the typed union `AgentEvent`.

An agent's `stream()` yields these; `utils/a2a_common` maps each to the A2A wire with one exhaustive match.
All events are frozen and carry plain values only, so that they can be logged and compared.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Any

from utils.content_parts import ContentPart as ContentPart  # noqa: PLC0414 - agents import all that they say from here
from utils.content_parts import DataPart as DataPart  # noqa: PLC0414 - agents import all that they say from here
from utils.content_parts import FileBytes as FileBytes  # noqa: PLC0414 - agents import all that they say from here
from utils.content_parts import FileUrl as FileUrl  # noqa: PLC0414 - agents import all that they say from here
from utils.content_parts import TextPart as TextPart  # noqa: PLC0414 - agents import all that they say from here


class ToolStatus(StrEnum):
    """How a tool call ended."""

    OK = "ok"
    ERROR = "error"
    INTERRUPTED = "interrupted"


class DelegationState(StrEnum):
    """State of a remote task, in the words of the A2A protocol."""

    SUBMITTED = "submitted"
    WORKING = "working"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELED = "canceled"
    REJECTED = "rejected"
    INPUT_REQUIRED = "input-required"
    AUTH_REQUIRED = "auth-required"


class StepStatus(StrEnum):
    """State of one step of a plan."""

    PENDING = "pending"
    WORKING = "working"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELED = "canceled"


@dataclass(frozen=True, slots=True)
class TextDelta:
    """The next piece of the answer's text. `origin` is the agent whose words it is, where that is another one."""

    text: str
    origin: str = ""


@dataclass(frozen=True, slots=True)
class TextRestarted:
    """The text so far was not the answer: the text that follows replaces it."""


@dataclass(frozen=True, slots=True)
class ArtifactAdded:
    """A result of the agent beside the text of its answer. It is published as it is, whole.

    Attributes:
        parts: What it holds; at least one part.
        name: Shown to the user.
        description: A sentence about it.
        id: Key within the task: an artifact with the same id replaces the one before. Made of the content when
            empty, so that the same artifact added twice, as by a tool that runs again, is one.
        metadata: JSON objects by the URI of the extension that defines them.
        origin: The sub-agent whose result it is; empty for one of the agent's own.
    """

    parts: Sequence[ContentPart]
    name: str = ""
    description: str = ""
    id: str = ""
    metadata: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    origin: str = ""


@dataclass(frozen=True, slots=True)
class StatusText:
    """What the agent does now, in a sentence for the user, while it works."""

    text: str


@dataclass(frozen=True, slots=True)
class MetadataReported:
    """Metadata of the task: `payload`, under the URI of the extension that defines it. The newest of a URI counts."""

    uri: str
    payload: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ToolStarted:
    """A tool call begins. `arguments` is a short digest for display, never the whole input."""

    call_id: str
    tool: str
    arguments: str = ""


@dataclass(frozen=True, slots=True)
class ToolFinished:
    """A tool call ended. `seconds` is wall time; `truncated` tells that the model saw a part only.

    `result` is the beginning of what it returned, for display, without secrets; never the whole output.
    """

    call_id: str
    tool: str
    status: ToolStatus
    seconds: float
    truncated: bool = False
    result: str | None = None


@dataclass(frozen=True, slots=True)
class DelegationStarted:
    """A sub-agent was given a task. `call_id` ties the event to the tool call that caused it."""

    call_id: str
    agent: str
    request: str


@dataclass(frozen=True, slots=True)
class DelegationProgress:
    """A sub-agent reports. `activity` is the sub-agent's own activity payload, where it sent one.

    `seconds` is set where it said nothing for a while: how long it is waited for so far. `waiting` says why nothing is
    to be heard: `busy` where it takes no request now, `away` where it cannot be reached; it is tried again.
    """

    call_id: str
    agent: str
    remote_task_id: str
    state: DelegationState
    activity: Mapping[str, Any] | None = None
    seconds: float | None = None
    waiting: str | None = None


@dataclass(frozen=True, slots=True)
class DelegationFinished:
    """A sub-agent's task ended or waits for the user.

    `below` is its tokens and its own sub-tasks, as it told; `result` is the beginning of its answer, as in `ToolFinished`.
    """

    call_id: str
    agent: str
    remote_task_id: str
    state: DelegationState
    seconds: float
    below: Mapping[str, Any] | None = None
    result: str | None = None


@dataclass(frozen=True, slots=True)
class PlanStep:
    """One step of the plan: who does what, and how far it is."""

    id: str
    title: str
    agent: str
    status: StepStatus
    order: int


@dataclass(frozen=True, slots=True)
class PlanUpdated:
    """The whole plan as it stands now; replaces the one before."""

    steps: Sequence[PlanStep]


@dataclass(frozen=True, slots=True)
class ContextCompacted:
    """The view of the conversation was made smaller.

    Counts are tokens; `cut` is the first kept message's id, `touched` how many messages were changed or left out.
    """

    strategy: str
    tokens_before: int
    tokens_after: int
    limit: int
    cut: str | None = None
    touched: int = 0


class RuleChange(StrEnum):
    """What became of a standing constraint of the user."""

    PINNED = "pinned"
    UNPINNED = "unpinned"
    NOT_SHOWN = "not-shown"


@dataclass(frozen=True, slots=True)
class RuleChanged:
    """A standing constraint, in the user's words, was found or revoked, or is shown as a handle only, for its size."""

    change: RuleChange
    text: str


@dataclass(frozen=True, slots=True)
class ContextMeasured:
    """What the agent's last model request held: charged tokens by kind (`system`, `tools`, `pinned`, `summary`, `tail`).

    `limit` is the most that a request may have, `window` the model's window.
    """

    by_kind: Mapping[str, int]
    limit: int
    window: int


@dataclass(frozen=True, slots=True)
class ModelRetried:
    """A model call failed `attempt` times, now with code `reason`, and is made again after `seconds`."""

    reason: str
    attempt: int
    seconds: float = 0.0
    fallback: bool = False


@dataclass(frozen=True, slots=True)
class ModelWaited:
    """The model has said nothing for `seconds`. `begun` tells whether part of its answer has come."""

    seconds: float
    begun: bool = False


@dataclass(frozen=True, slots=True)
class ModelReasoned:
    """The next piece of the model's reasoning, where it is shown. Never part of an answer."""

    text: str


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one or several model calls; `cost_usd` is 0 where the model's price is not known."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    cost_usd: float = 0.0

    def __add__(self, other: Usage) -> Usage:
        return self._combined(other, operator.add)

    def since(self, counted: Usage) -> Usage:
        """What this total has more than an earlier one; never below zero."""
        return self._combined(counted, lambda total, before: max(0, total - before))

    def _combined(self, other: Usage, combine: Callable[[Any, Any], Any]) -> Usage:
        return Usage(
            **{
                each.name: combine(getattr(self, each.name), getattr(other, each.name))
                for each in fields(self)
            }
        )


@dataclass(frozen=True, slots=True)
class UsageReported:
    """Tokens used so far in this turn, by agent name."""

    by_agent: Mapping[str, Usage]


@dataclass(frozen=True, slots=True)
class SuggestionsReady:
    """What the user is likely to ask next, likeliest first; each is a request that may be sent as it is."""

    requests: Sequence[str]


@dataclass(frozen=True, slots=True)
class InputRequired:
    """The agent waits for the user.

    Attributes:
        question: What the user is asked.
        origin: The agent that asks.
        form: A JSON schema of the answer.
        auth: Whether the user shall sign in somewhere first: `auth-required` instead of `input-required`.
        parts: Other data that an agent asks with, as it came: what a program needs to answer with data.
    """

    question: str
    origin: str
    form: Mapping[str, Any] | None = None
    auth: bool = False
    parts: Sequence[DataPart] = ()


@dataclass(frozen=True, slots=True)
class Partial:
    """Why an answer is only a part of what it should be: a code, a sentence for the user, whether to try again."""

    code: str
    message: str
    retryable: bool = False


@dataclass(frozen=True, slots=True)
class Completed:
    """The turn is done. The last event of a stream; so are `Failed`, `Rejected`, `InputRequired` and `MessageAnswer`.

    `partial` is set where something kept the answer from being whole.
    """

    partial: Partial | None = None


@dataclass(frozen=True, slots=True)
class Failed:
    """The turn failed. `message` is a plain sentence that may be shown to the user."""

    code: str
    message: str
    retryable: bool = False


@dataclass(frozen=True, slots=True)
class MessageAnswer:
    """The whole answer as one message, without a task: the only event of its stream.

    For agents that set `answers_with_message`. Where a task exists already, because another event came before or
    the message continues a task, the task is completed with this message.
    """

    parts: Sequence[ContentPart]
    metadata: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Rejected:
    """The agent does not take the task. `reason` is a plain sentence that may be shown to the user."""

    reason: str
    code: str = "rejected"


Activity = (
    ToolStarted
    | ToolFinished
    | DelegationStarted
    | DelegationProgress
    | DelegationFinished
    | ContextCompacted
    | RuleChanged
    | ModelRetried
    | ModelWaited
    | ModelReasoned
)
"""Events that travel in status metadata under the activity extension's URI."""

AgentEvent = (
    TextDelta
    | TextRestarted
    | Activity
    | PlanUpdated
    | ContextMeasured
    | UsageReported
    | SuggestionsReady
    | ArtifactAdded
    | StatusText
    | MetadataReported
    | InputRequired
    | MessageAnswer
    | Completed
    | Failed
    | Rejected
)
"""Everything that `stream()` may yield."""
