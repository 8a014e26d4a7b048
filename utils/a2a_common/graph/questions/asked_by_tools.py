"""Questions that a tool asks the user: the task waits as `input-required`, and continues with the answer.

The first time, the question ends the graph's run. With the answer the tool is run again **from its beginning**, and the
same question then returns the answer. So ask before anything is changed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from utils.a2a_common.execution.publishable import EventRefused
from utils.a2a_common.graph.questions.interrupts import Reply
from utils.messages.approval import NotApproved, approves, check_shown, fenced
from utils.messages.invisible import written_out
from utils.messages.question import Question, approval_question

NOTHING = "Nothing was done"

_asked: ContextVar[list[Exception] | None] = ContextVar("asked", default=None)


def ask_user(question: str, form: Mapping[str, Any] | None = None) -> Reply:
    """Ask the user, from inside a tool.

    Args:
        question: One plain sentence.
        form: JSON schema of the answer, for clients that show forms.

    Returns:
        The user's text, and the filled form if there is one.

    Raises:
        EventRefused: The question has no text.
    """
    if not (isinstance(question, str) and question.strip()):
        raise EventRefused("ask_user needs a question in words, and was given none.")
    return Reply.of(_answer_to(Question(question, form=form or None)))


def approve(what: str, tool: str, values: Mapping[str, Any]) -> None:
    """Continue only after an explicit yes of the user to exactly these values.

    Args:
        what: What is approved, as in "delete a ticket".
        tool: Name of the tool.
        values: Everything that it will be done with. What cannot be seen is written as JSON writes it.

    Raises:
        UpstreamRefused: The user did not approve, or the values are too long to be shown.
    """
    shown = written_out(json.dumps(values, ensure_ascii=False, indent=2, default=str))
    check_shown(f"what {tool} would be called with", [shown], NOTHING)
    digest = hashlib.sha256(json.dumps([tool, values], sort_keys=True, default=str).encode()).hexdigest()
    parts = (
        f"May I {what}? The tool {tool} will be called with exactly this:",
        fenced(shown, "json"),
        'Answer "yes" to go on. After any other answer nothing is done.',
    )
    asked = approval_question(parts, f"{what[:1].upper()}{what[1:]}?", digest, nothing=NOTHING)
    if not approves(_answer_to(asked), digest):
        raise NotApproved("Nothing was done: the answer was not an explicit yes.")


def _answer_to(question: Question) -> Any:
    """The user's answer; without one the question leaves the tool as an exception, which is noted."""
    from langgraph.errors import GraphInterrupt
    from langgraph.types import interrupt

    try:
        return interrupt(question.value())
    except GraphInterrupt as left:
        if (asked := _asked.get()) is not None:
            asked.append(left)
        raise


@contextmanager
def asked_questions() -> Iterator[list[Exception]]:
    """The questions without an answer that are asked inside the block, also in its threads and tasks, in order."""
    asked: list[Exception] = []
    token = _asked.set(asked)
    try:
        yield asked
    finally:
        _asked.reset(token)
