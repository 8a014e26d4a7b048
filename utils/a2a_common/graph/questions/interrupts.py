"""Converts a remote agent's question to an interrupt, and the user's answer to its resume value. Pure.

The question is the value of a LangGraph interrupt; the answer is the value with which the graph is resumed: the user's
text, or `{"text": …, "data": […]}` if there are structured parts, with `parts` if these have metadata, because an
agent that asked with data may recognise the answer only by it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from utils.a2a_common.client.delegation.asked_data import asked_data, readable_data
from utils.a2a_common.client.delegation.long_questions import as_shown
from utils.a2a_common.client.transport.peer_text import one_line
from utils.a2a_common.protocol.parts import kept_part, part_kept
from utils.events import DataPart, DelegationState
from utils.messages.question import Question
from utils.messages.secret_words import asks_for_secret

if TYPE_CHECKING:
    from utils.a2a_common.client.delegation.task_view import TaskView

FOREIGN_ASKS = (
    "Warning: the agent {agent} is not one of ours, and what you answer goes to it. It seems to ask for a secret: give it no "
    "password, key or token of anything else."
)

_LONGEST_CLAIM = 100
"""Characters of the origin that an agent names for its question: a chain of three agents with names of the longest kind."""


@dataclass(frozen=True, slots=True)
class Reply:
    """The user's answer: text, structured parts (a filled form), or both.

    Attributes:
        text: The text.
        data: The JSON objects among the structured parts.
        parts: The structured parts as they were sent, with their metadata.
    """

    text: str
    data: Sequence[Mapping[str, Any]] = ()
    parts: Sequence[DataPart] = ()

    @classmethod
    def of(cls, resumed: Any) -> Reply:
        """The reply in the value that an interrupt returned."""
        if isinstance(resumed, Mapping):
            data = [part for part in resumed.get("data") or () if isinstance(part, Mapping)]
            parts = [part_kept(part) for part in resumed.get("parts") or () if isinstance(part, Mapping)]
            return cls(str(resumed.get("text", "")), data, parts or [DataPart(dict(each)) for each in data])
        return cls(str(resumed))


def resume_value(text: str, parts: Sequence[DataPart]) -> Any:
    """The value with which a graph is resumed."""
    if not parts:
        return text
    marked = {"parts": [kept_part(part) for part in parts]} if any(part.metadata for part in parts) else {}
    return {"text": text, "data": [part.value for part in parts], **marked}


def question_of(task: TaskView, agent: str, *, own: bool = True) -> Question:
    """The question of a remote task that waits.

    Args:
        task: The remote task.
        agent: The configured name of its agent.
        own: Whether the agent is one of ours; a foreign agent's question for a secret gets a warning.
    """
    data = asked_data(task.asked)
    text = as_shown(task)
    question = text or f"The {agent} agent needs more information before it can go on."
    if not (text and task.origin):  # an agent that passes on a question has its data in the text already
        question = "\n\n".join(filter(None, [question, readable_data(data, worded=bool(text))]))
    secret = {"form": data.form, "data": [part.value for part in data.parts]}
    if not own and asks_for_secret(question, secret):
        question = f"{question}\n\n{FOREIGN_ASKS.format(agent=agent)}"
    return Question(
        question,
        origin_of(agent, data.origin),
        data.form,
        auth=task.state is DelegationState.AUTH_REQUIRED,
        parts=[kept_part(part) for part in data.parts],
        id=task.message_id,
        seen=task.marks,
    )


def origin_of(agent: str, claimed: str) -> str:
    """Origin of a question: our own name for the agent, then the agent for which it claims to ask."""
    name = one_line(claimed, _LONGEST_CLAIM)
    return agent if name in ("", agent) else f"{agent} > {name}"
