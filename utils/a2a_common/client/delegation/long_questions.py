"""Shortens another agent's questions that are too long to read, with a note; a question for an approval is never shortened. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from utils.a2a_common.client.delegation.asked_data import asked_data
from utils.errors import PeerLimitExceeded
from utils.messages.approval import LONGEST_QUESTION, digest_in_form

if TYPE_CHECKING:
    from utils.a2a_common.client.delegation.task_view import TaskView

LONGEST_PASSED = LONGEST_QUESTION + 4_000
"""Most characters of an approval that is passed on: the longest that our agents ask, with room for what agents in between add."""

_LONGEST_TEXT = 8_000
"""Characters of any other question that are shown."""

SHORTENED = "(The question is longer: {left} more characters of it are not shown.)"
NOT_SHOWN = (
    "The {agent} agent asked for an approval in {length} characters, which is more than the {most} that can be shown to a user. "
    "Nothing was approved, and its task was canceled. Ask it for something shorter."
)


def check_approval_length(task: TaskView, agent: str) -> None:
    """Check that what an agent wants to have approved can be shown to a person in full.

    Raises:
        PeerLimitExceeded: It cannot, so that it must not be asked.
    """
    length = len(task.question.strip())
    if task.waits and _asks_approval(task) and length > LONGEST_PASSED:
        raise PeerLimitExceeded(NOT_SHOWN.format(agent=agent, length=length, most=LONGEST_PASSED))


def as_shown(task: TaskView) -> str:
    """The text of a task's open question; if it was shortened, with a note about that."""
    text = task.question.strip()
    if len(text) <= _LONGEST_TEXT or _asks_approval(task):
        return text
    note = SHORTENED.format(left=len(text) - _LONGEST_TEXT)
    return f"{text[:_LONGEST_TEXT]}\n\n{note}"


def _asks_approval(task: TaskView) -> bool:
    """Whether the form of the question asks for an approval."""
    form = asked_data(task.asked).form
    return form is not None and bool(digest_in_form(form))
