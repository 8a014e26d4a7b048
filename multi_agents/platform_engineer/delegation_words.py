"""What is said of a delegation: to the user, to the model, and the id of its messages. Pure but for what a loop reports."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING
from uuid import UUID, uuid5

import structlog
from langchain_core.messages import ToolMessage

from utils.a2a_common.client.credentials import ActingFor
from utils.a2a_common.client.sentences import SUB_AGENT_UNREACHABLE_FOR_ANSWER
from utils.a2a_common.protocol.delegation_chain import LOOP
from utils.a2a_common.protocol.delegation_context import reference_of
from utils.events import DelegationFinished, DelegationStarted, DelegationState, InputRequired
from utils.messages.approval import digest_in_form
from utils.messages.results import STOPPED_CALL, ToolProblem, dump_result

if TYPE_CHECKING:
    from langchain.tools import ToolRuntime

    from multi_agents.platform_engineer.tool_call_origin import ToolCallOrigin
    from utils.a2a_common.client.registry import SubAgent
    from utils.a2a_common.protocol.request import AgentRequest
    from utils.persistence.delegations import DelegationRecord

log = structlog.get_logger(__name__)

NAMESPACE = UUID("a3a0f5c6-8f7e-4d0c-8a62-3f2f5f8f5b1d")


def asked_again(record: DelegationRecord) -> InputRequired:
    asked = record.questions[-1]
    sentence = SUB_AGENT_UNREACHABLE_FOR_ANSWER.format(agent=record.agent, question=asked["question"])
    return InputRequired(
        sentence, str(asked.get("origin", record.agent)), asked.get("form"), bool(asked.get("auth"))
    )


def message_id_of(kept: DelegationRecord, number: int) -> str:
    """Id of a delegation's message: the request (0) or a reply, the same after any restart."""
    return str(uuid5(NAMESPACE, f"{kept.id}/{number}")) if number else kept.id


def not_made(
    name: str,
    text: str,
    why: str,
    cause: ToolCallOrigin,
    runtime: ToolRuntime[AgentRequest],
    *,
    code: str = LOOP,
) -> ToolMessage:
    """The result of a delegation that would go round in circles, or that the user does not want: the model can work with it."""
    log.warning("delegation.loop_stopped" if code == LOOP else "delegation.kept_back", agent=name)
    runtime.stream_writer(DelegationStarted(cause.call_id, name, text))
    runtime.stream_writer(DelegationFinished(cause.call_id, name, "", DelegationState.REJECTED, 0.0))
    return ToolMessage(
        dump_result(ToolProblem(error=code, message=why)),
        tool_call_id=cause.call_id,
        name=name,
        status="error",
        additional_kwargs={STOPPED_CALL: True},
    )


def description_of(agent: SubAgent) -> str:
    """What a model reads of an agent. The agent's own words are quoted: they are data."""
    return f'Delegates to the agent "{agent.name}", which says of itself: "{agent.description}"'


def whom_for(kept: DelegationRecord, answers: int = 0) -> ActingFor:
    """For whom the agent of a delegation is asked; the newest of `answers` may be an approval, which admission has checked."""
    asked = kept.questions[answers - 1] if 0 < answers <= len(kept.questions) else {}
    form = asked.get("form")
    consent = digest_in_form(form) if isinstance(form, Mapping) else ""
    return ActingFor(kept.thread_id, task=reference_of(kept.parent_task_id), consent=consent)
