"""`Turn`: one turn of a task, with all that another process needs to resume it, and its stored form.

The stored form is JSON, with the request in the JSON form of its protocol message.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from a2a.auth.user import UnauthenticatedUser, User
from a2a.server.context import ServerCallContext
from a2a.types.a2a_pb2 import SendMessageRequest
from google.protobuf import json_format

from utils.a2a_common.protocol.answer_proof import drop_nonce
from utils.a2a_common.protocol.delegation_context import find_delegation_context
from utils.a2a_common.protocol.owner import owner_of
from utils.a2a_common.protocol.request import ANSWERED_TASK
from utils.a2a_common.protocol.trace_context import trace_of_call
from utils.persistence.runs import conversation_key


@dataclass(frozen=True, slots=True)
class Turn:
    """One message to a task, with all that is needed to resume the work on it; never a credential.

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
        question: Id of the question that the message was admitted to answer; empty for one that answers none.
        deadline: When its answer is too late, in seconds since 1970; `None` for no limit.
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
    question: str = ""

    @property
    def size(self) -> int:
        """Bytes of the request."""
        return self.request.ByteSize()


def turn_of(
    params: SendMessageRequest,
    call: ServerCallContext,
    *,
    task_id: str,
    context_id: str,
    now: float,
    question: str = "",
) -> Turn:
    """The turn of a message.

    Args:
        params: The request, which stays as it is. The webhook in it is not part of the turn: it holds credentials.
        call: Who sent it.
        task_id: The task, which need not exist yet.
        context_id: The conversation.
        now: Seconds since 1970.
        question: Id of the question that it was admitted to answer.
    """
    request = SendMessageRequest()
    request.CopyFrom(params)
    request.configuration.ClearField("task_push_notification_config")
    request.message.task_id = task_id
    request.message.context_id = context_id
    drop_nonce(request.message)
    owner = owner_of(call)
    return Turn(
        task_id=task_id,
        context_id=context_id,
        conversation=conversation_key(owner, context_id),
        owner=owner,
        request=request,
        tenant=call.tenant,
        user=call.user.user_name if call.user.is_authenticated else "",
        extensions=frozenset(call.requested_extensions),
        trace=trace_of_call(call),
        judged=call.state.get(ANSWERED_TASK) == task_id,
        accepted_at=now,
        deadline=_deadline(request, now),
        question=question,
    )


def _deadline(request: SendMessageRequest, now: float) -> float | None:
    """When the agent that delegated this stops waiting for the answer."""
    data = [
        json_format.MessageToDict(part.data.struct_value)
        for part in request.message.parts
        if part.data.HasField("struct_value")
    ]
    delegation = find_delegation_context(data)
    left = delegation.deadline_seconds if delegation is not None else None
    return None if left is None else now + left


_FIELDS = frozenset(each.name for each in fields(Turn))


def encode_turn(turn: Turn) -> bytes:
    """The stored form of a turn."""
    stored: dict[str, Any] = {name: getattr(turn, name) for name in _FIELDS}
    stored["request"] = json_format.MessageToDict(turn.request)
    stored["extensions"] = sorted(turn.extensions)
    stored["trace"] = dict(turn.trace)
    return json.dumps(stored, ensure_ascii=False, sort_keys=True).encode()


def decode_turn(body: bytes) -> Turn:
    """The turn of a stored form; fields that this version does not know are ignored.

    Raises:
        ValueError: It is not the form of a turn.
    """
    try:
        stored = {name: value for name, value in json.loads(body).items() if name in _FIELDS}
        request = SendMessageRequest()
        stored["request"] = json_format.ParseDict(stored["request"], request, ignore_unknown_fields=True)
        stored["extensions"] = frozenset(stored.get("extensions", ()))
        return Turn(**stored)
    except (AttributeError, KeyError, json_format.ParseError, TypeError) as error:
        raise ValueError("This is no stored turn.") from error


class StoredUser(User):
    """The caller of a turn that an earlier process accepted: it was authenticated there."""

    def __init__(self, name: str) -> None:
        self._name = name

    @property
    def is_authenticated(self) -> bool:
        """Yes."""
        return True

    @property
    def user_name(self) -> str:
        """The name of the user."""
        return self._name


def stored_call(turn: Turn) -> ServerCallContext:
    """The call of a turn that an earlier process accepted, without its credentials, which are not stored."""
    state: dict[str, object] = {"headers": dict(turn.trace)}
    if turn.judged:
        state[ANSWERED_TASK] = turn.task_id
    return ServerCallContext(
        state=state,
        user=StoredUser(turn.user) if turn.user else UnauthenticatedUser(),
        tenant=turn.tenant,
        requested_extensions=set(turn.extensions),
    )
