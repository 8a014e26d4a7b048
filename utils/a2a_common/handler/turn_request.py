"""Makes the turn of a message that was admitted: everything that is stored of it. Pure."""

from __future__ import annotations

from a2a.server.context import ServerCallContext
from a2a.types.a2a_pb2 import SendMessageRequest
from google.protobuf import json_format

from utils.a2a_common.protocol.answer_proof import drop_nonce
from utils.a2a_common.protocol.delegation_context import find_delegation_context
from utils.a2a_common.protocol.owner import owner_of
from utils.a2a_common.protocol.request import ANSWERED_TASK
from utils.a2a_common.protocol.trace_context import trace_of_call
from utils.a2a_common.tasks.turn import Turn, conversation_key


def turn_of(
    params: SendMessageRequest, call: ServerCallContext, *, task_id: str, context_id: str, now: float
) -> Turn:
    """The turn of a message.

    Args:
        params: The request, which stays as it is. The webhook in it is not part of the turn: it holds credentials.
        call: Who sent it.
        task_id: The task, which need not exist yet.
        context_id: The conversation.
        now: Seconds since 1970.
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
