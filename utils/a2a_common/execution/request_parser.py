"""Parses an A2A message into an `AgentRequest`: from the context that an executor is given, `TurnContext` where the engine runs it."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from a2a.types.a2a_pb2 import TaskState

from utils.a2a_common.engine.turn_runner import TurnContext
from utils.a2a_common.protocol.asked import approval_digest
from utils.a2a_common.protocol.delegation_context import DelegationContext, find_delegation_context
from utils.a2a_common.protocol.extensions import (
    ACTIVITY_PLAN,
    BUDGET_EXTENSION,
    PLAN_ARTIFACT,
    TREE_EXTENSION,
    USAGE_EXTENSION,
    parse_plan,
    parse_usage,
)
from utils.a2a_common.protocol.media_modes import accepted_of
from utils.a2a_common.protocol.owner import parts_of
from utils.a2a_common.protocol.parts import decode_part, whole_numbers
from utils.a2a_common.protocol.repeated_request import repeats_request
from utils.a2a_common.protocol.request import ANSWERED_TASK, AgentRequest, Caller
from utils.a2a_common.protocol.task_tree import TaskTree
from utils.a2a_common.tasks.open_question import question_before
from utils.a2a_common.tasks.states import INTERRUPTED
from utils.events import ContentPart, PlanUpdated, Usage
from utils.messages.approval import code_of, without_code
from utils.resilience.budget import Budget, Meter
from utils.timing import Deadline

if TYPE_CHECKING:
    from a2a.server.agent_execution import RequestContext
    from a2a.types.a2a_pb2 import Message, Task


def agent_request(context: RequestContext, agent: str) -> AgentRequest:
    """The request of one A2A message, with the caller that the server established."""
    message = context.message
    task_id, context_id = context.task_id or "", context.context_id or ""
    caller = _caller(context)
    current = context.current_task
    turn = context if isinstance(context, TurnContext) else None
    data = _data(message) if message else ()
    delegation = find_delegation_context(data)
    metadata = _struct(message.metadata) if message else {}
    used, text = _used(current), context.get_user_input()
    question = question_before(current, message.message_id) if current and message else None
    return AgentRequest(
        text=without_code(text, code_of(question.message_id)) if question else text,
        task_id=task_id,
        context_id=context_id,
        message_id=message.message_id if message else "",
        thread_id=thread_id(agent, caller, context_id),
        caller=caller,
        data=data,
        parts=_parts(message) if message else (),
        delegation=delegation,
        resumes=turn.answers if turn else current is not None and current.status.state in INTERRUPTED,
        approves=approval_digest(question) if question else "",
        recovered=turn is not None and turn.resumed,
        judged=bool(task_id) and context.call_context.state.get(ANSWERED_TASK) == task_id,
        repeats=message is not None and current is not None and repeats_request(message, current),
        metadata=metadata,
        extensions=frozenset(context.call_context.requested_extensions),
        deadline=Deadline.after(_seconds_left(turn, delegation)).at,
        used=used,
        accepted=accepted_of(context.configuration.accepted_output_modes if context.configuration else ()),
        meter=_meter(metadata, delegation, used),
        suspended=turn.suspended if turn else asyncio.Event(),
    )


def _seconds_left(turn: TurnContext | None, delegation: DelegationContext | None) -> float | None:
    """Time for the answer, from now: of a stored turn by the wall clock, since it may have waited or been resumed."""
    if turn is not None:
        return None if turn.deadline is None else turn.deadline - time.time()
    return delegation.deadline_seconds if delegation else None


def task_tree(request: AgentRequest, context: RequestContext) -> TaskTree:
    """The tree of delegations below the request's task, with those of the task's earlier turns."""
    parent, task = request.delegation.parent_task_id if request.delegation else "", context.current_task
    before = _struct(task.metadata).get(TREE_EXTENSION) if task is not None else None
    known = before if isinstance(before, Mapping) else None
    return TaskTree(parent, known, gone_by=_gone_by(context, task))


def _gone_by(context: RequestContext, task: Task | None) -> float | None:
    """Seconds since a turn was accepted that another process worked on before; `None` for one that had not begun."""
    begun = task is not None and task.status.state == TaskState.TASK_STATE_WORKING
    if not (isinstance(context, TurnContext) and context.resumed and begun and context.accepted_at):
        return None
    return max(0.0, time.time() - context.accepted_at)


def plan_artifact(task: Task | None) -> PlanUpdated | None:
    """The plan of a task that shows it as an artifact."""
    if task is None or all(artifact.artifact_id != PLAN_ARTIFACT for artifact in task.artifacts):
        return None
    payload = _struct(task.metadata).get(ACTIVITY_PLAN)
    return parse_plan(payload) if isinstance(payload, Mapping) else None


def _used(task: Task | None) -> Mapping[str, Usage]:
    """Tokens that earlier turns of a task used, from its metadata."""
    payload = _struct(task.metadata).get(USAGE_EXTENSION) if task is not None else None
    reported = parse_usage(payload) if isinstance(payload, Mapping) else None
    return reported.by_agent if reported else {}


def _meter(
    metadata: Mapping[str, Any], delegation: DelegationContext | None, used: Mapping[str, Usage]
) -> Meter:
    asked = Budget.parse(metadata.get(BUDGET_EXTENSION))
    return Meter(asked.within(delegation.budget if delegation else Budget()), sum(used.values(), Usage()))


def thread_id(agent: str, caller: Caller, context_id: str) -> str:
    """Key of a conversation's checkpoints.

    The client chooses the context id, so the key also holds agent, tenant and owner. Each part is hashed with its
    length, so that no choice of one part can produce the key of another owner.
    """
    parts = (agent, caller.tenant, caller.name, context_id)
    text = "".join(f"{len(part)}:{part}" for part in parts)
    return hashlib.sha256(text.encode()).hexdigest()


def stored_thread_id(agent: str, owner: str, context_id: str) -> str:
    """The same key, for the owner of a stored task."""
    tenant, user = parts_of(owner)
    return thread_id(agent, Caller(name=user, tenant=tenant), context_id)


def _caller(context: RequestContext) -> Caller:
    user = context.call_context.user
    name = user.user_name if user.is_authenticated else ""
    return Caller(name=name, tenant=context.call_context.tenant or "")


def _data(message: Message) -> tuple[Mapping[str, Any], ...]:
    from google.protobuf import json_format

    values = [json_format.MessageToDict(part.data) for part in message.parts if part.HasField("data")]
    return tuple(whole_numbers(value) for value in values if isinstance(value, Mapping))


def _parts(message: Message) -> tuple[ContentPart, ...]:
    return tuple(part for each in message.parts if (part := decode_part(each)) is not None)


def _struct(struct: Any) -> dict[str, Any]:
    from google.protobuf import json_format

    return dict(json_format.MessageToDict(struct))
