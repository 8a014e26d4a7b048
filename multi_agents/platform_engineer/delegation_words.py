"""The sentences about a delegation for the user and for the model. Pure, except that a loop is logged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import structlog
from langchain_core.messages import ToolMessage

from utils.a2a_common.client.transport.sentences import ANSWER_UNDELIVERED, SUB_AGENT_UNREACHABLE
from utils.a2a_common.protocol.delegation_chain import LOOP
from utils.a2a_common.protocol.parts import part_kept
from utils.events import DelegationFinished, DelegationStarted, DelegationState, InputRequired
from utils.messages.marks import SHAPE, STOPPED_CALL, Shape
from utils.messages.question import Question
from utils.messages.results import ToolProblem, dump_result

if TYPE_CHECKING:
    from langchain.tools import ToolRuntime

    from multi_agents.platform_engineer.tool_call_origin import ToolCallOrigin
    from utils.a2a_common.client.agents.registry import SubAgent
    from utils.a2a_common.protocol.request import AgentRequest
    from utils.persistence.delegations import DelegationRecord

log = structlog.get_logger(__name__)


_ASKED = "asked"
"""Key of the agent's own text in a question that is asked again."""


def asked_again(record: DelegationRecord) -> InputRequired:
    """The newest question of an agent that is away, for the user to answer later."""
    asked = Question.of(question_again(record, SUB_AGENT_UNREACHABLE.format(agent=record.agent)))
    parts = [part_kept(part) for part in asked.parts]
    return InputRequired(asked.text, asked.origin or record.agent, asked.form, asked.auth, parts)


def question_again(record: DelegationRecord, why: str) -> dict[str, Any]:
    """The same question as the value of an interrupt: to the agent it is the one that it asked. `why` says why it was not given the answer."""
    newest = record.questions[-1]
    text = str(newest.get(_ASKED) or Question.of(newest).text)
    sentence = ANSWER_UNDELIVERED.format(why=why, question=text)
    return {**newest, "question": sentence, _ASKED: text}


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
        additional_kwargs={**STOPPED_CALL.entry(True), **SHAPE.entry(Shape.PROBLEM)},
    )


def description_of(agent: SubAgent) -> str:
    """The description of an agent for the model. The agent's own text is quoted, because it is untrusted data."""
    return f'Delegates to the agent "{agent.name}", which says of itself: "{agent.description}"'
