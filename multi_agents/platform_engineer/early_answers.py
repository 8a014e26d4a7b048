"""The answers of agents that are done while another one, which was called together with them, asks the user.

They come with its question, as artifacts named `response` with the agent as origin: every client that shows answers shows them,
and they stay in the task. So the answer after the user's reply need not repeat them. Pure, but for the middleware.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid5

from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

from utils.a2a_common.protocol.extensions import RESPONSE_ARTIFACT
from utils.events import ArtifactAdded, TextPart
from utils.messages.handles import full_output_of
from utils.messages.marks import FINISHED_AT, IN_WORDS, SHOWN_BEFORE
from utils.messages.notes import with_note
from utils.messages.results import shown_before
from utils.messages.text import message_text
from utils.messages.transcript import active_index
from utils.persistence.delegations import COMPLETED, DelegationRecord

if TYPE_CHECKING:
    from langgraph.types import StateSnapshot

    from utils.a2a_common.protocol.request import AgentRequest

_NAMESPACE = UUID("0b6f3a52-2c2f-4a3e-9a53-8c7d0a3f1e64")

WholeText = Callable[[str, str], Awaitable[str | None]]
"""Reads the full text of a shortened result by thread and handle."""

_ALREADY_SHOWN = (
    "(The user has already been shown, word for word, what these agents answered to this message: {agents}. Answer with what is "
    "new, and refer to the rest without repeating it.)"
)


async def early_answers(state: StateSnapshot, request: AgentRequest, whole: WholeText) -> list[ArtifactAdded]:
    """The answers of the delegations that are done in a step of which another call asks the user, in the order of their calls.

    Args:
        state: The conversation, where it waits.
        request: The turn that ends with the question.
        whole: Reads the full text of a shortened result by thread and handle; `None` if it is gone.
    """
    if not any(task.interrupts for task in state.tasks):
        return []
    updates = (task.result for task in state.tasks if isinstance(task.result, Mapping))
    results = (message for update in updates for message in _results(update))
    return [await _answer(each, request, whole) for each in results]


async def _answer(result: ToolMessage, request: AgentRequest, whole: WholeText) -> ArtifactAdded:
    """A result as it is shown to the user: in full, without notes on files, which the user gets."""
    agent, handle = str(result.name), full_output_of(result)
    text = (await whole(request.thread_id, handle) if handle else None) or message_text(result)
    shown = IN_WORDS.of(result) or text
    return ArtifactAdded(
        [TextPart(f"**From {agent}:**\n\n{shown}")],
        name=RESPONSE_ARTIFACT,
        description=f"The answer of the agent {agent} to its part of the request",
        id=f"{RESPONSE_ARTIFACT}-{uuid5(_NAMESPACE, f'{request.task_id}/{result.tool_call_id}')}",
        origin=agent,
    )


def seen_before(kept: DelegationRecord, beside: Iterable[DelegationRecord]) -> dict[str, list[str]]:
    """The mark of a result that came after the user's reply: the calls of its step whose results stood beside the question.

    Args:
        kept: The delegation that asked, before its agent is given the reply.
        beside: The delegations of the task, as they are then.
    """
    calls = [
        each.call_id
        for each in beside
        if each.step == kept.step and each.id != kept.id and each.state == COMPLETED
    ]
    return SHOWN_BEFORE.entry(calls) if calls else {}


class EarlyAnswers(AgentMiddleware[Any, Any]):
    """Marks for the model which results of the turn the user has read already."""

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any] | AIMessage:
        """Call the model with that remark behind the newest message of the user."""
        messages = list[Any](request.messages)
        place = active_index(messages)
        if place is None or not (agents := seen_agents(messages[place:])):
            return await handler(request)
        messages[place] = with_note(messages[place], _ALREADY_SHOWN.format(agents=", ".join(agents)))
        return await handler(request.override(messages=messages))


def seen_agents(turn: Sequence[BaseMessage]) -> list[str]:
    """The agents whose results the user has read already, each once."""
    seen = shown_before(turn)
    results = (each for each in turn if isinstance(each, ToolMessage) and each.tool_call_id in seen)
    return list(dict.fromkeys(str(each.name) for each in results))


def _results(update: Mapping[str, Any]) -> Iterator[ToolMessage]:
    found = update.get("messages") or ()
    for each in [found] if isinstance(found, BaseMessage) else found:
        if isinstance(each, ToolMessage) and FINISHED_AT.of(each) is not None and each.status != "error":
            yield each
