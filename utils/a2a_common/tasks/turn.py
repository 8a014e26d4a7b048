"""One turn of a task: what an engine stores, so that another process can go on with it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from a2a.types.a2a_pb2 import SendMessageRequest


@dataclass(frozen=True, slots=True)
class Turn:
    """One message that a task is worked on for, with all that a resume needs; never a credential.

    Attributes:
        task_id: The task, which need not exist yet.
        context_id: The conversation, as the client names it.
        conversation: Key of the conversation; its turns run one after the other.
        owner: Key of the scope that sees the task.
        request: The request with its ids filled in, without credentials of push notifications.
        tenant: Tenant of the call; empty outside tenants.
        user: Name of the caller; empty for an anonymous one.
        extensions: Extensions that the client asked for.
        trace: The trace context that the call came with (`traceparent`, `tracestate`).
        judged: Whether the content of the message decided that it answers this task.
        accepted_at: When the message was accepted, in seconds since 1970.
        deadline: When its answer comes too late, in seconds since 1970; `None` for no limit.
    """

    task_id: str
    context_id: str
    conversation: str
    owner: str
    request: SendMessageRequest
    tenant: str = ""
    user: str = ""
    extensions: frozenset[str] = frozenset()
    trace: Mapping[str, str] = field(default_factory=dict)
    judged: bool = False
    accepted_at: float = 0.0
    deadline: float | None = None


def conversation_key(owner: str, context_id: str) -> str:
    """Key of an owner's conversation. A list in JSON, since a separator could be part of a name."""
    return json.dumps([owner, context_id], ensure_ascii=False)
