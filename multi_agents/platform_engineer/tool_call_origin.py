"""Identifies the tool call that caused a delegation: task, model answer and call. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID, uuid5

from langchain_core.messages import AIMessage, BaseMessage

_NAMESPACE = UUID("a3a0f5c6-8f7e-4d0c-8a62-3f2f5f8f5b1d")


@dataclass(frozen=True, slots=True)
class ToolCallOrigin:
    """Why a delegation exists.

    Attributes:
        id: Derived from the rest, so that the same cause has the same delegation after any restart.
        call_id: The tool call.
        step: Id of the model's answer that made it.
        index: Position of the call in that answer, from 1.
        total: How many calls that answer made.
    """

    id: str
    call_id: str
    step: str
    index: int
    total: int


def tool_call_origin(task_id: str, messages: Sequence[BaseMessage], call_id: str) -> ToolCallOrigin:
    """The cause of a tool call in a conversation."""
    asked = _asking(messages, call_id)
    step = str(asked.id or "") if asked else ""
    calls = [call["id"] for call in asked.tool_calls] if asked else [call_id]
    delegation_id = str(uuid5(_NAMESPACE, f"{task_id}/{step}/{call_id}"))
    return ToolCallOrigin(delegation_id, call_id, step, calls.index(call_id) + 1, len(calls))


def _asking(messages: Sequence[BaseMessage], call_id: str) -> AIMessage | None:
    for message in reversed(messages):
        if isinstance(message, AIMessage) and any(call["id"] == call_id for call in message.tool_calls):
            return message
    return None
