"""Converts a remote agent's question to an interrupt, and the user's answer to its resume value. Pure.

The question travels as the value of a LangGraph interrupt, the answer as the value that the graph
is resumed with: the user's words, or `{"text": …, "data": […]}` where structured parts came along.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from utils.a2a_common.client.long_questions import as_shown
from utils.a2a_common.client.peer_text import one_line
from utils.events import DelegationState
from utils.messages.approval import digest_in_form
from utils.messages.secret_words import asks_for_secret

if TYPE_CHECKING:
    from utils.a2a_common.client.task_view import TaskView

FOREIGN_ASKS = (
    "Warning: the agent {agent} is not one of ours, and what you answer goes to it. It seems to ask for a secret: give it no "
    "password, key or token of anything else."
)

_LONGEST_CLAIM = 100
"""Characters of what an agent says of who asks: a chain of three agents with names of the longest kind."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What the user answered: words, structured parts (a filled form), or both."""

    text: str
    data: Sequence[Mapping[str, Any]] = ()

    @classmethod
    def of(cls, resumed: Any) -> Reply:
        """The reply in the value that an interrupt returned."""
        if isinstance(resumed, Mapping):
            data = [part for part in resumed.get("data") or () if isinstance(part, Mapping)]
            return cls(str(resumed.get("text", "")), data)
        return cls(str(resumed))


def resume_value(text: str, data: Sequence[Mapping[str, Any]]) -> Any:
    """What a graph is resumed with."""
    return {"text": text, "data": [dict(part) for part in data]} if data else text


def approval_in(interrupt: Any) -> str:
    """What the value of an interrupt asks to approve, by its digest; empty where it asks for something else."""
    form = interrupt.get("form") if isinstance(interrupt, Mapping) else None
    return digest_in_form(form) if isinstance(form, Mapping) else ""


def question_of(task: TaskView, agent: str, *, own: bool = True) -> dict[str, Any]:
    """The interrupt's value for a remote task that waits: question, who asks, the form as it came, what for, its id.

    Args:
        task: The remote task.
        agent: Our name for its agent.
        own: Whether the agent is one of ours; the question of another one for a secret comes with a warning.
    """
    data = next(iter(task.asked), None)
    form, claimed = data, ""
    if data is not None and isinstance(data.get("form"), Mapping):
        form, claimed = data["form"], str(data.get("origin") or "")
    question = as_shown(task)
    if not question:
        question = f"The {agent} agent needs more information before it can go on."
    if not own and asks_for_secret(question, form):
        question = f"{question}\n\n{FOREIGN_ASKS.format(agent=agent)}"
    return {
        "question": question,
        "origin": origin_of(agent, claimed),
        "form": None if form is None else dict(form),
        "auth": task.state is DelegationState.AUTH_REQUIRED,
        "id": task.message_id,
    }


def origin_of(agent: str, claimed: str) -> str:
    """Who asks: the agent by our own name for it, and behind that whom it says that it asks for."""
    said = one_line(claimed, _LONGEST_CLAIM)
    return agent if said in ("", agent) else f"{agent} > {said}"
