"""Ends a turn with a sub-agent's own answer, if the supervisor could only repeat it.

That is the case if one own agent did the complete request in the user's own text. All other answers are written by the
supervisor.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import structlog
from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from multi_agents.platform_engineer.node_outputs import data_of
from utils.context.constraints import constraints_in
from utils.context.refused import Refused, without_refused
from utils.context.state import edits_of, pinned_of
from utils.messages.handles import full_output_of
from utils.messages.marks import ORIGIN, WHOLE_ANSWER
from utils.messages.text import message_text

if TYPE_CHECKING:
    from utils.a2a_common.client.delegation.task_view import TaskView

log = structlog.get_logger(__name__)

_TURN = 3
"""Messages of such a turn: the request, the one call, its result."""


def whole_answer(task: TaskView, *, own: bool, asked: bool) -> dict[str, bool]:
    """The mark of a result that may be the user's answer as it is.

    Args:
        task: The remote task, which has ended.
        own: Whether the agent is one of ours, by our configuration.
        asked: Whether it asked the user a question.
    """
    plain = not (task.error or task.kept or task.files or data_of(task)) and bool(task.text().strip())
    return WHOLE_ANSWER.entry(True) if own and plain and not asked else {}


class PassedAnswer(AgentMiddleware[Any, Any]):
    """Uses a result as the answer if it is one, instead of a model request that would rephrase it."""

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any] | AIMessage:
        """Answer with the sub-agent's text, or let the model write the answer."""
        state: Any = request.state
        answer = None if request.response_format else passed_answer(request.messages, state)
        if answer is None:
            return await handler(request)
        log.info("synthesis.passed", agent=ORIGIN.of(answer))
        return answer


def passed_answer(messages: Sequence[BaseMessage], state: Mapping[str, Any]) -> AIMessage | None:
    """The final answer of a turn in a sub-agent's own text; `None` if the supervisor writes it. Pure.

    Standing constraints have to be kept by the supervisor: sub-agents do not know them.
    """
    if len(messages) < _TURN:
        return None
    message, asking, result = messages[-_TURN:]
    if not (
        isinstance(message, HumanMessage)
        and isinstance(asking, AIMessage)
        and isinstance(result, ToolMessage)
    ):
        return None
    if not _is_whole(result) or not _is_unchanged(message, asking):
        return None
    if constraints_in(
        without_refused(messages, Refused.from_state(state)), pinned_of(state), edits_of(state)
    ):
        return None
    return AIMessage(message_text(result), response_metadata=ORIGIN.entry(str(result.name)))


def _is_whole(result: ToolMessage) -> bool:
    """Whether a result is the agent's complete text, not shortened to fit."""
    return (
        bool(WHOLE_ANSWER.of(result))
        and result.status != "error"
        and full_output_of(result) is None
        and bool(message_text(result).strip())
    )


def _is_unchanged(message: HumanMessage, asking: AIMessage) -> bool:
    """Whether the one call of an answer carries the user's text. A message with a file is more than its text."""
    if len(asking.tool_calls) != 1 or asking.invalid_tool_calls or not isinstance(message.content, str):
        return False
    return str(asking.tool_calls[0]["args"].get("request", "")).split() == message.content.split()
