"""Idempotent sends: a repeated message is answered with its first task.

The id of a new task is derived from who sends and what message. So whether a message is known
is one look at the task store, after a restart and on another replica as well.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from uuid import UUID, uuid5

from a2a.types.a2a_pb2 import Message, Task

from utils.a2a_common.protocol.extensions import SCOPE_EXTENSION

_NAMESPACE = UUID("0e9b5a52-3f0b-4f2c-8d64-0b9e5f3c2a71")

REMEMBERED = 1024
"""Answers to waiting tasks that are remembered until they stand in the task's history."""


def new_task_id(owner: str, message: Message) -> str:
    """The id of the task that a caller's message begins.

    What is said counts as well as the message's id: clients are seen that number their messages
    from one in every conversation, and those are no retries.
    """
    name = f"{len(owner)}:{owner}{len(message.message_id)}:{message.message_id}{message.context_id}"
    return str(uuid5(_NAMESPACE, f"{name}/{hashlib.sha256(b''.join(_said(message))).hexdigest()}"))


def holds(task: Task, message: Message) -> bool:
    """Whether the task has received this message."""
    return any(
        known.message_id == message.message_id and _said(known) == _said(message) for known in task.history
    )


def _said(message: Message) -> list[bytes]:
    """The parts without what a delegating agent adds, which tells a time left and so is never the same."""
    parts = [part for part in message.parts if SCOPE_EXTENSION not in part.data.struct_value.fields]
    return [part.SerializeToString(deterministic=True) for part in parts]


class Begun:
    """Messages whose turn was begun by this process; their tasks may not be stored yet."""

    def __init__(self) -> None:
        self._messages: OrderedDict[str, str] = OrderedDict()

    def note(self, task_id: str, message_id: str) -> None:
        """The turn that answers this message begins."""
        self._messages[task_id] = message_id
        self._messages.move_to_end(task_id)
        if len(self._messages) > REMEMBERED:
            self._messages.popitem(last=False)

    def is_newest(self, task_id: str, message_id: str) -> bool:
        """Whether this message began the newest turn of the task."""
        return self._messages.get(task_id) == message_id
