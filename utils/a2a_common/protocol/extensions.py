"""The extensions of the A2A protocol that our agents declare, and their payloads: each is encoded and decoded here.

Each payload is a plain JSON object in the `metadata` of a status update, under the extension's
URI. A generic client ignores them; `platform-engineer chat` shows a live tree. The activity payload is
`{"kind": …, "agent": …}` and the fields of the event's dataclass in `utils/events.py`. What arrives is a
peer's data: a malformed payload is `None`, never an exception.

Payloads with a file of their own: `delegation_context.py`, `task_tree.py`, and the budget in `utils/resilience/budget.py`.
"""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from utils.events import (
    Activity,
    ContextCompacted,
    ContextMeasured,
    DelegationFinished,
    DelegationProgress,
    DelegationStarted,
    Failed,
    ModelReasoned,
    ModelRetried,
    ModelWaited,
    Partial,
    PlanStep,
    PlanUpdated,
    RuleChanged,
    StepStatus,
    SuggestionsReady,
    ToolFinished,
    ToolStarted,
    Usage,
    UsageReported,
)

ACTIVITY_EXTENSION = "urn:platform-engineer:ext:activity:v1"
USAGE_EXTENSION = "urn:platform-engineer:ext:usage:v1"
CONTEXT_EXTENSION = "urn:platform-engineer:ext:context:v1"
ERROR_EXTENSION = "urn:platform-engineer:ext:error:v1"
SCOPE_EXTENSION = "urn:platform-engineer:ext:scope:v1"
BUDGET_EXTENSION = "urn:platform-engineer:ext:budget:v1"
NEXT_EXTENSION = "urn:platform-engineer:ext:next:v1"
QUESTION_EXTENSION = "urn:platform-engineer:ext:question:v1"
MATCHES_ANSWERS = "matches_answers"
"""In its `params` on the card: whether the agent decides if a message without a task answers a question."""
ARTIFACT_EXTENSION = "urn:platform-engineer:ext:artifact:v1"
TREE_EXTENSION = "urn:platform-engineer:ext:tree:v1"
AGENTS_EXTENSION = "urn:platform-engineer:ext:agents:v1"
"""On the card of an agent that delegates: who is behind it, in the extension's `params`."""
READ_ONLY_EXTENSION = "urn:platform-engineer:ext:read-only:v1"
"""On the card of an agent that changes nothing: each of its tools only reads, and so does each agent that it delegates to."""
TRACE_EXTENSION = "urn:platform-engineer:ext:trace:v1"
"""In the last status' metadata: the trace id, under which the logs and traces of all agents involved are found."""
PLAN_EXTENSION = "urn:platform-engineer:ext:plan:v1"
"""A client that requests it gets the plan as an artifact too."""

ACTIVITY_PLAN = f"{ACTIVITY_EXTENSION}/plan"
"""Key of the plan in metadata: a payload of the activity extension that later activity does not overwrite."""

CONTEXT_KINDS = ("system", "tools", "pinned", "summary", "tail")
"""The parts of a model request, in the order in which they are sent and shown."""

MOST_SUGGESTED = 3
"""Suggestions that are taken from an agent, however many it sends."""

RESPONSE_ARTIFACT = "response"
PLAN_ARTIFACT = "plan"
NOTICE_ARTIFACT = "notice"
"""What a person should know of the agent, beside the answer."""

_KINDS: dict[str, type[Activity]] = {
    "tool_started": ToolStarted,
    "tool_finished": ToolFinished,
    "delegation_started": DelegationStarted,
    "delegation_progress": DelegationProgress,
    "delegation_finished": DelegationFinished,
    "context_compacted": ContextCompacted,
    "model_retried": ModelRetried,
    "model_waited": ModelWaited,
    "model_reasoned": ModelReasoned,
    "rule_changed": RuleChanged,
}
_KIND_OF = {event: kind for kind, event in _KINDS.items()}


def activity_payload(event: Activity, agent: str) -> dict[str, Any]:
    """The JSON object of an activity event of `agent`."""
    fields = {
        field.name: getattr(event, field.name)
        for field in dataclasses.fields(event)
        if getattr(event, field.name) is not None
    }
    return {"kind": _KIND_OF[type(event)], "agent": agent, **fields}


def parse_activity(payload: Mapping[str, Any]) -> Activity | None:
    """The event of a payload; `None` for one that is unknown or malformed."""
    kind = str(payload.get("kind"))
    if kind not in _KINDS:
        return None
    readers = _READERS[kind]
    known = {name: value for name, value in payload.items() if name in readers and value is not None}
    try:
        return _KINDS[kind](**{name: readers[name](value) for name, value in known.items()})
    except (TypeError, ValueError, OverflowError):
        return None


RESUBSCRIBE = "resubscribe"
"""Kind of the activity payload that ends the stream of a task that continues: subscribe to it again."""


def resubscribe_payload(after_seconds: float) -> dict[str, Any]:
    """The JSON object, under the activity extension, of the last status of a stream that is cut while its task continues."""
    return {"kind": RESUBSCRIBE, "after_seconds": after_seconds}


def parse_resubscribe(payload: object) -> float | None:
    """Seconds to wait before subscribing again; `None` where the payload does not ask for it."""
    if not isinstance(payload, Mapping) or payload.get("kind") != RESUBSCRIBE:
        return None
    try:
        return max(0.0, float(payload.get("after_seconds", 0.0)))
    except (TypeError, ValueError):
        return 0.0


def _reader(hint: Any) -> Callable[[Any], Any]:
    """Reads one field from JSON by its type. Numbers come back from the wire as floats; of a union the first type counts."""
    kind = next((each for each in typing.get_args(hint) if each is not type(None)), hint)
    return _mapping if Mapping in (typing.get_origin(hint), typing.get_origin(kind)) else kind


def _mapping(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise TypeError
    return value


_READERS = {
    name: {field: _reader(hint) for field, hint in typing.get_type_hints(kind).items()}
    for name, kind in _KINDS.items()
}


def plan_payload(event: PlanUpdated) -> dict[str, Any]:
    """The JSON object of a plan, in metadata and in the one data part of the artifact `plan`."""
    return {"steps": [dataclasses.asdict(step) for step in event.steps]}


def parse_plan(payload: Mapping[str, Any]) -> PlanUpdated | None:
    """The plan of a payload, its steps in order, or `None` when it is malformed."""
    try:
        steps = [
            PlanStep(
                id=str(step["id"]),
                title=str(step["title"]),
                agent=str(step["agent"]),
                status=StepStatus(step["status"]),
                order=int(step["order"]),
            )
            for step in payload["steps"]
        ]
    except (KeyError, TypeError, ValueError):
        return None
    return PlanUpdated(sorted(steps, key=lambda step: step.order))


def usage_payload(event: UsageReported) -> dict[str, Any]:
    """The JSON object of the usage extension: tokens by agent, and their cost where it is known."""
    return {agent: _counts(usage) for agent, usage in event.by_agent.items()}


def _counts(usage: Usage) -> dict[str, Any]:
    counts = dataclasses.asdict(usage)
    if not usage.cost_usd:
        del counts["cost_usd"]
    return counts


_COUNTS = tuple(each.name for each in dataclasses.fields(Usage) if isinstance(each.default, int))
"""The integer fields of a usage."""


def parse_usage(payload: Mapping[str, Any]) -> UsageReported | None:
    """The usage of a payload (numbers come back from the wire as floats), or `None` when malformed."""
    try:
        return UsageReported({str(agent): _usage(counts) for agent, counts in payload.items()})
    except (TypeError, ValueError, AttributeError, OverflowError):
        return None


def _usage(counts: Mapping[str, Any]) -> Usage:
    """The counts that this version knows: a newer agent may report further ones."""
    tokens = {name: int(counts[name]) for name in _COUNTS if name in counts}
    return Usage(**tokens, cost_usd=float(counts.get("cost_usd", 0.0)))


def context_payload(event: ContextMeasured) -> dict[str, Any]:
    """The JSON object of the context extension: what the last model request held."""
    return {"by_kind": dict(event.by_kind), "limit": event.limit, "window": event.window}


def parse_context(payload: Mapping[str, Any]) -> ContextMeasured | None:
    """The size of the last model request in a payload, or `None` when malformed."""
    try:
        kinds = {kind: max(0, int(payload["by_kind"].get(kind, 0))) for kind in CONTEXT_KINDS}
        return ContextMeasured(kinds, max(1, int(payload["limit"])), max(1, int(payload["window"])))
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
        return None


def clear_payload() -> dict[str, Any]:
    """The data part that asks an agent to forget its conversation."""
    return {CONTEXT_EXTENSION: {"clear": True}}


def asks_to_clear(data: Iterable[Mapping[str, Any]]) -> bool:
    """Whether a message's data parts ask the agent to forget its conversation."""
    asked = (part.get(CONTEXT_EXTENSION) for part in data)
    return any(isinstance(value, Mapping) and value.get("clear") is True for value in asked)


def suggestions_payload(event: SuggestionsReady) -> dict[str, Any]:
    """The JSON object of the extension for what the user is likely to ask next."""
    return {"requests": list(event.requests)}


def parse_suggestions(payload: Mapping[str, Any]) -> SuggestionsReady | None:
    """The first requests of a payload, or `None` when malformed."""
    requests = payload.get("requests")
    if not isinstance(requests, list):
        return None
    return SuggestionsReady(tuple(str(request) for request in requests[:MOST_SUGGESTED]))


def question_payload(origin: str) -> dict[str, Any]:
    """The JSON object of the question extension, in the metadata of a message: which agent asks."""
    return {"origin": origin}


def parse_question(payload: object) -> str:
    """Which agent asks; empty if the payload does not name it."""
    return str(payload.get("origin", "")) if isinstance(payload, Mapping) else ""


@dataclasses.dataclass(frozen=True, slots=True)
class TaskError:
    """Why a task failed, or why its answer is only a part: a code, a sentence for people, a trace id."""

    code: str
    message: str
    retryable: bool = False
    trace_id: str = ""


def error_payload(event: Failed | Partial, trace_id: str) -> dict[str, Any]:
    """The JSON object of the error extension: of a failed task, or of one whose answer is only a part."""
    return dataclasses.asdict(TaskError(event.code, event.message, event.retryable, trace_id))


def parse_error(payload: Mapping[str, Any]) -> TaskError:
    """The error of a payload; what is missing is empty."""
    code, message, trace_id = (str(payload.get(name) or "") for name in ("code", "message", "trace_id"))
    return TaskError(code, message, payload.get("retryable") is True, trace_id)
