"""Accepts a yes only for a question that its sender has read. Pure.

The first yes in text of a task needs no reference: there is only one question. A second yes may be the first one sent
again, before its sender saw the next question. So it must say which question it answers: by the id of the question's
message, the nonce that came with it, the digest in its form, or the code after the yes. An answer that names a question
that is no longer open is refused in any case.

A yes that names no task belongs to the conversation and may be meant for a task that has ended: it needs no reference
only if none of the other tasks asked for an approval.
"""

from __future__ import annotations

from a2a.types.a2a_pb2 import Message, Role, Task
from a2a.utils.errors import UnsupportedOperationError

from utils.a2a_common.protocol.answer_proof import named_question
from utils.a2a_common.protocol.asked import approval_digest
from utils.a2a_common.protocol.parts import objects_in, text_in
from utils.a2a_common.tasks.open_question import NOT_OPEN, open_question
from utils.messages.approval import code_of, says_yes, without_code

UNREAD = (
    'This task has asked another question since your last approval. Read it, then reply "yes {code}" to approve it. '
    "(Programs: send the form with its digest, or name the question in the metadata.)"
)

LATE = (
    "Another task of this conversation asked for an approval too, and this yes does not say which question it answers. "
    'Read the one that is open now, then reply "yes {code}" to approve it. '
    "(Programs: name its task, or send the form with its digest.)"
)


def check_named(task: Task, message: Message) -> None:
    """Refuse an answer to a question that is no longer open.

    Raises:
        UnsupportedOperationError: The message names it.
    """
    named = named_question(message)
    if named and named != open_question(task).message_id:
        raise UnsupportedOperationError(NOT_OPEN)


def needs_look(task: Task, message: Message) -> bool:
    """Whether it matters for a message if other tasks of the conversation asked for an approval: a yes that names neither task nor question."""
    question = open_question(task)
    asks = not message.task_id and bool(approval_digest(question))
    return asks and _approves(message) and not _names(question, message)


def asked_for_approval(task: Task) -> bool:
    """Whether a task asked for an approval at any time."""
    messages = [*task.history, task.status.message]
    return any(approval_digest(each) for each in messages if each.role == Role.ROLE_AGENT)


def check_read(task: Task, message: Message, *, elsewhere: bool) -> None:
    """Refuse a yes that names no question if it may be meant for another one.

    Args:
        task: The task that waits.
        message: The answer.
        elsewhere: Whether it may be meant for another task of the conversation.

    Raises:
        UnsupportedOperationError: With how to name the question.
    """
    question = open_question(task)
    if not approval_digest(question) or not _approves(message) or _names(question, message):
        return
    if elsewhere:
        raise UnsupportedOperationError(LATE.format(code=code_of(question.message_id)))
    if any(_approves(each) for each in task.history if each.role == Role.ROLE_USER):
        raise UnsupportedOperationError(UNREAD.format(code=code_of(question.message_id)))


def _approves(message: Message) -> bool:
    """Whether a message may approve something."""
    return says_yes(text_in(message)) or any(data.get("approve") is True for data in objects_in(message))


def _names(question: Message, message: Message) -> bool:
    text, digest = text_in(message), approval_digest(question)
    return (
        named_question(message) == question.message_id
        or any(data.get("digest") == digest for data in objects_in(message))
        or without_code(text, code_of(question.message_id)) != text
    )
