"""Decides from the conversation's last checkpoint where a turn resumes whose process died. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import TYPE_CHECKING, Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

if TYPE_CHECKING:
    from langgraph.types import Interrupt, StateSnapshot

TURN = "turn"
"""Key of a checkpoint's metadata: `AgentRequest.turn_id` of the turn that wrote the checkpoint."""

_RESUME = "__resume__"
"""Channel in which LangGraph keeps the answers that an interrupted step has had."""


class ResumePoint(Enum):
    """Where a recovered turn continues."""

    MESSAGE = auto()
    """With the user's message: no checkpoint holds it yet."""
    ANSWER = auto()
    """With the user's answer: no tool has had it yet."""
    CHECKPOINT = auto()
    """With the step that follows the last checkpoint."""
    FINISHED = auto()
    """Nowhere: the graph had finished, and the answer is stored."""


@dataclass(frozen=True, slots=True)
class RecoveredTurn:
    """The point at which a recovered turn resumes.

    Attributes:
        point: Where it continues.
        done: Messages that the model and the tools added in the process that died, as far as checkpoints hold them; for
            a turn that answers a question, since the message that its task began with.
        earlier: Whether `done` includes what earlier turns of the task did.
    """

    point: ResumePoint
    done: Sequence[BaseMessage] = ()
    earlier: bool = False


def recovery_of(
    state: StateSnapshot, turn_id: str, *, answers: bool, had: Sequence[Any] = (), answer: Any = None
) -> RecoveredTurn:
    """Where a turn continues.

    Args:
        state: The conversation's last checkpoint.
        turn_id: Id of the user's message in the state.
        answers: Whether the message answers a question of its task.
        had: The answers that the step which waits has had; from `answers_had`.
        answer: The value that the question is answered with.
    """
    messages: Sequence[BaseMessage] = state.values.get("messages", ())
    asked = _place_of(messages, turn_id)
    if asked is not None:
        return RecoveredTurn(_point(state), messages[asked + 1 :])
    if not answers:
        return RecoveredTurn(ResumePoint.MESSAGE)
    ours = (state.metadata or {}).get(TURN) == turn_id
    since = messages[_last_request(messages) + 1 :]
    if ours or (state.interrupts and list(had[-1:]) == [answer]):
        return RecoveredTurn(_point(state), since, earlier=True)
    if state.interrupts:
        return RecoveredTurn(ResumePoint.ANSWER, since, earlier=True)
    return RecoveredTurn(ResumePoint.MESSAGE)


def answers_had(
    pending: Sequence[tuple[str, str, Any]], interrupt: Interrupt, state: StateSnapshot
) -> list[Any]:
    """The answers that the interrupted step has had so far, oldest first, from a checkpoint's pending writes."""
    tasks = {task.id for task in state.tasks if interrupt in task.interrupts}
    for task_id, channel, value in pending:
        if channel == _RESUME and task_id in tasks:
            return list(value) if isinstance(value, list) else [value]
    return []


def stored_answer(done: Sequence[BaseMessage]) -> AIMessage | None:
    """The model's last answer among messages; `None` if there is none."""
    return next((each for each in reversed(done) if isinstance(each, AIMessage)), None)


def _point(state: StateSnapshot) -> ResumePoint:
    """Where a graph that has the message continues.

    `state.next` leaves out the steps whose results are stored, and is empty where the process died between the last of
    them and the checkpoint that follows; `state.tasks` is empty at the end of the graph only.
    """
    return ResumePoint.CHECKPOINT if state.tasks else ResumePoint.FINISHED


def _place_of(messages: Sequence[BaseMessage], turn_id: str) -> int | None:
    places = (place for place, each in enumerate(messages) if each.id == turn_id and turn_id)
    return next(places, None)


def _last_request(messages: Sequence[BaseMessage]) -> int:
    places = [place for place, each in enumerate(messages) if isinstance(each, HumanMessage)]
    return places[-1] if places else -1
