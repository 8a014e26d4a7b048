"""The extensions of the A2A protocol that our agents declare, and their payloads.

Each payload is a plain JSON object in the `metadata` of a status update, under the extension's
URI. A generic client ignores them; ours show a live tree. The activity payload is
`{"kind": …, "agent": …}` and the fields of the event's dataclass in `utils/events.py`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

from utils.events import (
    Activity,
    ContextCompacted,
    ContextMeasured,
    DelegationFinished,
    DelegationProgress,
    DelegationStarted,
    DelegationState,
    Failed,
    ModelRetried,
    Partial,
    PlanStep,
    PlanUpdated,
    StepStatus,
    ToolFinished,
    ToolStarted,
    ToolStatus,
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
TREE_EXTENSION = "urn:platform-engineer:ext:tree:v1"

CONTEXT_KINDS = ("system", "tools", "pinned", "summary", "tail")
"""What a model request holds, in the order in which it is sent and shown."""

RESPONSE_ARTIFACT = "response"
PLAN_ARTIFACT = "plan"

_KINDS: dict[str, type[Activity]] = {
    "tool_started": ToolStarted,
    "tool_finished": ToolFinished,
    "delegation_started": DelegationStarted,
    "delegation_progress": DelegationProgress,
    "delegation_finished": DelegationFinished,
    "context_compacted": ContextCompacted,
    "model_retried": ModelRetried,
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
    """The event of a payload; `None` for one that is unknown or malformed (a peer's data is never trusted)."""
    kind = _KINDS.get(str(payload.get("kind")))
    if kind is None:
        return None
    names = {field.name for field in dataclasses.fields(kind)}
    try:
        event = kind(**{name: value for name, value in payload.items() if name in names})
        return _with_enums(event)
    except (TypeError, ValueError):
        return None


def _with_enums(event: Activity) -> Activity:
    if isinstance(event, ToolFinished):
        return dataclasses.replace(event, status=ToolStatus(event.status))
    if isinstance(event, DelegationProgress | DelegationFinished):
        return dataclasses.replace(event, state=DelegationState(event.state))
    return event


def plan_payload(event: PlanUpdated) -> dict[str, Any]:
    """The JSON object of the `plan` artifact's one data part."""
    return {"steps": [dataclasses.asdict(step) for step in event.steps]}


def parse_plan(payload: Mapping[str, Any]) -> PlanUpdated | None:
    """The plan of a `plan` artifact's data part, or `None` when it is malformed."""
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
    return PlanUpdated(steps)


def usage_payload(event: UsageReported) -> dict[str, Any]:
    """The JSON object of the usage extension: tokens by agent, and their cost where it is known."""
    return {agent: _counts(usage) for agent, usage in event.by_agent.items()}


def _counts(usage: Usage) -> dict[str, Any]:
    counts = dataclasses.asdict(usage)
    if not usage.cost_usd:
        del counts["cost_usd"]
    return counts


def parse_usage(payload: Mapping[str, Any]) -> UsageReported | None:
    """The usage of a payload (numbers come back from the wire as floats), or `None` when malformed."""
    try:
        return UsageReported({str(agent): _usage(counts) for agent, counts in payload.items()})
    except (TypeError, ValueError, AttributeError, OverflowError):
        return None


def _usage(counts: Mapping[str, Any]) -> Usage:
    tokens = {name: int(number) for name, number in counts.items() if name != "cost_usd"}
    return Usage(**tokens, cost_usd=float(counts.get("cost_usd", 0.0)))


def context_payload(event: ContextMeasured) -> dict[str, Any]:
    """The JSON object of the context extension: what the last model request held."""
    return {"by_kind": dict(event.by_kind), "limit": event.limit, "window": event.window}


def parse_context(payload: Mapping[str, Any]) -> ContextMeasured | None:
    """What a payload says of the last model request, or `None` when malformed."""
    try:
        kinds = {kind: max(0, int(payload["by_kind"].get(kind, 0))) for kind in CONTEXT_KINDS}
        return ContextMeasured(kinds, max(1, int(payload["limit"])), max(1, int(payload["window"])))
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
        return None


def asks_to_clear(data: Iterable[Mapping[str, Any]]) -> bool:
    """Whether a message's data parts ask the agent to forget its conversation."""
    asked = (part.get(CONTEXT_EXTENSION) for part in data)
    return any(isinstance(value, Mapping) and value.get("clear") is True for value in asked)


def error_payload(event: Failed | Partial, trace_id: str) -> dict[str, Any]:
    """The JSON object of the error extension: of a failed task, or of one whose answer is only a part."""
    return {
        "code": event.code,
        "message": event.message,
        "retryable": event.retryable,
        "trace_id": trace_id,
    }
