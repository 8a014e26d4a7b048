"""Idempotent sends: a repeated message is answered with its first task.

The id of a new task is derived from who sends and what message. So whether a message is known is one look at the task
log, after a restart and on another replica as well. A task that failed and may be retried does not answer for its
message: the message, sent again, begins the next task of the same row of ids.
"""

from __future__ import annotations

import hashlib
from uuid import UUID, uuid5

from a2a.types.a2a_pb2 import Message, Task, TaskState
from google.protobuf import json_format

from utils.a2a_common.protocol.extensions import ERROR_EXTENSION, SCOPE_EXTENSION, parse_error

_NAMESPACE = UUID("0e9b5a52-3f0b-4f2c-8d64-0b9e5f3c2a71")


def new_task_id(owner: str, message: Message, *, retry: int = 0) -> str:
    """The id of the task that a caller's message begins.

    The content counts as well as the message's id: clients are seen that number their messages from one in every
    conversation, and those are no retries.

    Args:
        owner: Key of the caller.
        message: The message.
        retry: How many tasks of this message failed retryably before.
    """
    name = f"{len(owner)}:{owner}{len(message.message_id)}:{message.message_id}{message.context_id}"
    content = hashlib.sha256(b"".join(_content(message))).hexdigest()
    return str(uuid5(_NAMESPACE, f"{name}/{content}" + (f"/{retry}" if retry else "")))


def holds(task: Task, message: Message) -> bool:
    """Whether the task has received this message."""
    return any(
        known.message_id == message.message_id and _content(known) == _content(message)
        for known in task.history
    )


def failed_retryably(task: Task) -> bool:
    """Whether the task failed in a way that the same message may not fail again."""
    if task.status.state != TaskState.TASK_STATE_FAILED or ERROR_EXTENSION not in task.metadata:
        return False
    payload = task.metadata.fields[ERROR_EXTENSION]
    return payload.HasField("struct_value") and parse_error(json_format.MessageToDict(payload)).retryable


def _content(message: Message) -> list[bytes]:
    """The parts without what a delegating agent adds, which holds the time left and so is never the same."""
    parts = [part for part in message.parts if SCOPE_EXTENSION not in part.data.struct_value.fields]
    return [part.SerializeToString(deterministic=True) for part in parts]
