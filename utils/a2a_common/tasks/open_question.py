"""The open question of a task, and the question that a message answers. Pure."""

from __future__ import annotations

from a2a.types.a2a_pb2 import Message, Role, Task

from utils.a2a_common.tasks.states import INTERRUPTED

NOT_OPEN = "The question that this answers is not open any more. Look at the task: where it asks something else, read that and answer it."


def open_question(task: Task) -> Message:
    """The open question of a task; an empty message if it does not wait.

    An answer that was taken in and then lost has moved the question to the history: it is as open as before.
    """
    if task.status.state not in INTERRUPTED:
        return Message()
    return task.status.message if task.status.HasField("message") else _last_of_agent(task, "")


def question_before(task: Task, message_id: str) -> Message:
    """The question that a message of a task answers, whether it has joined the history or not."""
    joined = any(each.message_id == message_id for each in task.history)
    return _last_of_agent(task, message_id) if joined else open_question(task)


def _last_of_agent(task: Task, before: str) -> Message:
    """The newest message of the agent in the history, of those that stand before a message."""
    found = Message()
    for each in task.history:
        if before and each.message_id == before:
            break
        if each.role == Role.ROLE_AGENT:
            found = each
    return found
