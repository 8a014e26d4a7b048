"""The events that an agent emits while it works: the typed union `AgentEvent`.

An agent's `stream()` yields these; `utils/a2a_common` maps each to the A2A wire with one exhaustive match.
All events are frozen and carry plain values only, so that they can be logged and compared.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Any

from utils.content_parts import ContentPart as ContentPart  # noqa: PLC0414 - agents import all events and parts from here
from utils.content_parts import DataPart as DataPart  # noqa: PLC0414 - agents import all events and parts from here
from utils.content_parts import FileBytes as FileBytes  # noqa: PLC0414 - agents import all events and parts from here
from utils.content_parts import FileUrl as FileUrl  # noqa: PLC0414 - agents import all events and parts from here
from utils.content_parts import TextPart as TextPart  # noqa: PLC0414 - agents import all events and parts from here


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
    """The next part of the answer's text. `origin` is the agent that wrote it, if it is another one."""

    text: str
    origin: str = ""


@dataclass(frozen=True, slots=True)
class TextRestarted:
    """The text so far was not the answer: the text that follows replaces it."""


@dataclass(frozen=True, slots=True)
class ArtifactAdded:
    """A result of the agent besides the text of its answer. It is published unchanged, in one piece.

    Attributes:
        parts: Its content; at least one part.
        name: Shown to the user.
        description: A sentence about it.
        id: Key within the task: an artifact replaces an earlier one with the same ID. Derived from the content if
            empty, so that the same artifact added twice, as by a tool that runs again, is stored once.
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
    """What the agent is doing, as a sentence for the user."""

    text: str


@dataclass(frozen=True, slots=True)
class MetadataReported:
    """Metadata of the task: `payload`, under the URI of the extension that defines it. The newest payload of a URI applies."""

    uri: str
    payload: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ToolStarted:
    """A tool call begins. `arguments` is a short digest for display, never the complete input."""

    call_id: str
    tool: str
    arguments: str = ""


@dataclass(frozen=True, slots=True)
class ToolFinished:
    """A tool call ended. `seconds` is wall time; `truncated` is set if the model saw only a part of the result.

    `result` is the beginning of what it returned, for display, without secrets; never the complete output.
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
    """A sub-agent's task has made progress, or is still awaited. `activity` is the sub-agent's own activity payload, if it sent one.

    `seconds` is set if it sent nothing for a while: how long it has been awaited. `waiting` says why nothing was received:
    `busy` if it accepts no requests now, `away` if it cannot be reached; the request is repeated.
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

    `below` holds its tokens and its own sub-tasks, as it reported them; `result` is the beginning of its answer, as in `ToolFinished`.
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
    """One step of the plan: what is done by which agent, and its status."""

    id: str
    title: str
    agent: str
    status: StepStatus
    order: int


@dataclass(frozen=True, slots=True)
class PlanUpdated:
    """The complete plan; replaces the previous one."""

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
    """What changed for a standing constraint of the user."""

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
    """A model call failed `attempt` times, last with code `reason`, and is repeated after `seconds`."""

    reason: str
    attempt: int
    seconds: float = 0.0
    fallback: bool = False


@dataclass(frozen=True, slots=True)
class ModelWaited:
    """The model has sent nothing for `seconds`. `begun` says whether part of its answer has arrived."""

    seconds: float
    begun: bool = False


@dataclass(frozen=True, slots=True)
class ModelReasoned:
    """The next part of the model's reasoning, if it is shown. Never part of an answer."""

    text: str


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one or several model calls; `cost_usd` is 0 if the model's price is not known."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    cost_usd: float = 0.0

    def __add__(self, other: Usage) -> Usage:
        return self._combined(other, operator.add)

    def since(self, counted: Usage) -> Usage:
        """The difference to an earlier total; never below zero."""
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
    """What the user is likely to ask next, likeliest first; each is a request that can be sent unchanged."""

    requests: Sequence[str]


@dataclass(frozen=True, slots=True)
class InputRequired:
    """The agent waits for the user.

    Attributes:
        question: What the user is asked.
        origin: The agent that asks.
        form: A JSON schema of the answer.
        auth: Whether the user has to sign in somewhere first: `auth-required` instead of `input-required`.
        parts: Other data of the question, unchanged: what a program needs to answer with data.
    """

    question: str
    origin: str
    form: Mapping[str, Any] | None = None
    auth: bool = False
    parts: Sequence[DataPart] = ()


@dataclass(frozen=True, slots=True)
class Partial:
    """Why an answer is incomplete: a code, a sentence for the user, whether to try again."""

    code: str
    message: str
    retryable: bool = False


@dataclass(frozen=True, slots=True)
class Completed:
    """The turn is done. The last event of a stream; so are `Failed`, `Rejected`, `InputRequired` and `MessageAnswer`.

    `partial` is set if the answer is incomplete.
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
    """The complete answer as one message, without a task: the only event of its stream.

    For agents that set `answers_with_message`. If a task exists already, because another event came before or the
    message continues a task, the task is completed with this message.
    """

    parts: Sequence[ContentPart]
    metadata: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Rejected:
    """The agent does not accept the task. `reason` is a plain sentence that may be shown to the user."""

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
