"""A yes counts for a question that its sender has read. Pure.

The first yes in words of a task needs no more: there is one question, and whoever sends it was asked that. A second one may be the
same yes once more, sent before the next question was seen. So it has to say which question it answers: by the id of the question's message,
the nonce that came with it, the digest in its form, or the code behind the yes. What names a question that is not open any more
is refused, whatever it says.
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
    "A question of this task was answered with a yes before, and another one has come since: it may not have been read. Read it. "
    'To approve it answer "yes {code}", send its form with the digest, or name it in the metadata.'
)


def check_named(task: Task, message: Message) -> None:
    """Refuse an answer to a question that is not open any more.

    Raises:
        UnsupportedOperationError: The message names it.
    """
    named = named_question(message)
    if named and named != open_question(task).message_id:
        raise UnsupportedOperationError(NOT_OPEN)


def check_read(task: Task, message: Message) -> None:
    """Refuse a second yes that does not say which question it answers.

    Raises:
        UnsupportedOperationError: Says how to name the question.
    """
    question = open_question(task)
    if not approval_digest(question) or not _approves(message) or _names(question, message):
        return
    if any(_approves(each) for each in task.history if each.role == Role.ROLE_USER):
        raise UnsupportedOperationError(UNREAD.format(code=code_of(question.message_id)))


def _approves(message: Message) -> bool:
    """Whether a message may approve something."""
    return says_yes(text_in(message)) or any(data.get("approve") is True for data in objects_in(message))


def _names(question: Message, message: Message) -> bool:
    words, digest = text_in(message), approval_digest(question)
    return (
        named_question(message) == question.message_id
        or any(data.get("digest") == digest for data in objects_in(message))
        or without_code(words, code_of(question.message_id)) != words
    )
