"""The lines of `--json`: one object for each event of a task. Pure."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, assert_never

from multi_agents.cli.view.parts import artifact_text, message_text
from utils.a2a_common.client.stream.events import (
    ActivityReported,
    AgentAway,
    ArtifactChanged,
    MessageReceived,
    PeerEvent,
    StatusChanged,
    TaskSnapshot,
)
from utils.a2a_common.protocol.extensions import (
    TaskError,
    activity_payload,
    context_payload,
    suggestions_payload,
    usage_payload,
)
from utils.a2a_common.protocol.task_tree import SubTasks
from utils.events import ContextMeasured, PlanUpdated, SuggestionsReady, UsageReported

KINDS: dict[type[PeerEvent], str] = {
    TaskSnapshot: "task",
    StatusChanged: "status",
    ArtifactChanged: "text",
    PlanUpdated: "plan",
    ActivityReported: "activity",
    UsageReported: "usage",
    ContextMeasured: "context",
    SuggestionsReady: "next",
    SubTasks: "tree",
    TaskError: "error",
    MessageReceived: "message",
    AgentAway: "away",
}
"""What each event is called in its line."""


def as_json(event: PeerEvent) -> dict[str, Any]:
    """The event as the JSON object that `--json` prints: its kind, and its fields."""
    return {"event": KINDS[type(event)], **_fields(event)}


def _fields(event: PeerEvent) -> dict[str, Any]:
    match event:
        case StatusChanged():
            return {
                "task_id": event.task_id,
                "context_id": event.context_id,
                "state": event.state.value,
                "message": message_text(event.parts),
                "origin": event.origin,
            }
        case ArtifactChanged():
            return {
                "artifact_id": event.artifact_id,
                "name": event.name,
                "text": artifact_text(event.parts),
                "append": event.append,
            }
        case MessageReceived():
            return {"text": message_text(event.parts), "context_id": event.context_id}
        case ActivityReported():
            return {"activity": activity_payload(event.activity, event.agent)}
        case UsageReported():
            return {"usage": usage_payload(event)}
        case ContextMeasured():
            return {"context": context_payload(event)}
        case SuggestionsReady():
            return suggestions_payload(event)
        case TaskSnapshot() | PlanUpdated() | TaskError() | SubTasks() | AgentAway():
            return asdict(event)
        case _:
            assert_never(event)
