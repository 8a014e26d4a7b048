"""Finds the task of a message that names none: one that waits for its user, the task of the same message, or a new one.

Where a task of the conversation waits, the message is the answer to its question, or a new request; then the waiting task is
canceled, because a conversation has one open question at a time. A task that was answered while the message was judged continues.

A repeated message is answered with its first task. The id of a new task is derived from the sender and the message. So whether a
message is known is one look at the task log, after a restart and on another replica as well. A task that failed and may be
retried does not answer for its message: the message, sent again, begins the next task of the same row of ids.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from typing import Any, Protocol
from uuid import UUID, uuid5

import structlog
from a2a.server.context import ServerCallContext
from a2a.types.a2a_pb2 import Message, Task, TaskState
from a2a.utils.errors import TaskNotCancelableError, TaskNotFoundError
from google.protobuf import json_format

from utils.a2a_common.engine.job import asks_same_question
from utils.a2a_common.engine.turn_engine import TurnEngine
from utils.a2a_common.handler.read_questions import asked_for_approval
from utils.a2a_common.protocol.delegation_context import find_delegation_context
from utils.a2a_common.protocol.extensions import ERROR_EXTENSION, SCOPE_EXTENSION, parse_error
from utils.a2a_common.protocol.owner import owner_of
from utils.a2a_common.protocol.parts import objects_in, text_in
from utils.a2a_common.protocol.repeated_request import repeats_request
from utils.a2a_common.protocol.request import ANSWERED_TASK
from utils.a2a_common.tasks.log import TaskLog
from utils.a2a_common.tasks.open_question import open_question
from utils.a2a_common.tasks.states import INTERRUPTED
from utils.messages.approval import code_of, without_code

log = structlog.get_logger(__name__)

_NEWEST = 20
"""Tasks of a conversation that are searched, newest status first."""

_LOOKS = 5
"""Most looks at the waiting tasks, if they change each time while the message is judged."""

_NAMESPACE = UUID("0e9b5a52-3f0b-4f2c-8d64-0b9e5f3c2a71")


class _AnsweredMeanwhile(Exception):
    """A task that waited when it was looked at no longer waits with that question."""


class PendingInputPolicy(Protocol):
    """The agent's decisions about tasks that wait for the user."""

    async def is_answer(self, question: str, text: str, data: Sequence[Mapping[str, Any]]) -> bool:
        """Whether a text with its data parts answers a question."""


class NoPendingInput:
    """The policy of an agent that has none: every message is a new request."""

    async def is_answer(self, question: str, text: str, data: Sequence[Mapping[str, Any]]) -> bool:
        """No."""
        del question, text, data
        return False


class PendingInputRouter:
    """Routes a message that names no task to the task that waits for it.

    Args:
        log: The tasks.
        engine: Knows which of them are being worked on, and cancels them.
        policy: Decides whether a message answers a question.
    """

    def __init__(self, log: TaskLog, engine: TurnEngine, policy: PendingInputPolicy) -> None:
        self._log = log
        self._engine = engine
        self._policy = policy

    async def route(self, message: Message, call: ServerCallContext) -> str:
        """The task that a message answers, or answered before; empty for a new request, which cancels what waits.

        While a message is judged, the task may be answered by another one. Then all is looked at again, as if the message had
        come after that: what is worked on meanwhile is neither answered twice nor canceled.
        """
        owner = owner_of(call)
        own = new_task_id(owner, message)
        if not message.context_id or await self._engine.has_turn(own, owner):
            return ""
        for _ in range(_LOOKS):
            interrupted = []
            async with aclosing(self._log.newest(message.context_id, owner, _NEWEST)) as tasks:
                async for task in tasks:
                    if (task.id == own or holds(task, message)) and not failed_retryably(task):
                        return "" if task.id == own else task.id
                    if task.status.state in INTERRUPTED:
                        interrupted.append(task)
            waiting = [task for task in interrupted if not await self._engine.has_turn(task.id, owner)]
            with contextlib.suppress(_AnsweredMeanwhile):
                return await self._answered(waiting, message, call)
        log.warning("pending_input.unsettled", context_id=message.context_id)
        return ""

    async def has_other_approvals(self, task: Task, owner: str) -> bool:
        """Whether another task of the conversation asked for an approval, of the newest ones."""
        async with aclosing(self._log.newest(task.context_id, owner, _NEWEST)) as tasks:
            return any([each.id != task.id and asked_for_approval(each) async for each in tasks])

    async def _answered(self, waiting: list[Task], message: Message, call: ServerCallContext) -> str:
        """The task that the message answers, of those that wait; the others are canceled."""
        owner, answered = owner_of(call), ""
        if waiting and await self._answers_task(waiting[0], message):
            first = waiting.pop(0)
            if not await self._still_waits(first, owner):
                raise _AnsweredMeanwhile
            answered = call.state[ANSWERED_TASK] = first.id
            log.info("task.answered", task_id=answered)
        for task in waiting:
            await self._leave(task, call)
        return answered

    async def _leave(self, task: Task, call: ServerCallContext) -> None:
        """Cancel a task that waits for another message."""
        owner = owner_of(call)
        try:
            await self._engine.cancel(task.id, owner, call, asked=task)
        except (TaskNotCancelableError, TaskNotFoundError):
            raise _AnsweredMeanwhile from None
        log.info("task.left_unanswered", task_id=task.id)

    async def _still_waits(self, asked: Task, owner: str) -> bool:
        head = await self._log.head(asked.id, owner)
        return asks_same_question(asked, head) and not await self._engine.has_turn(asked.id, owner)

    async def _answers_task(self, task: Task, message: Message) -> bool:
        """Whether the message answers a task. An agent names the task that it answers, so a delegation never does."""
        text, data = text_in(message), objects_in(message)
        if find_delegation_context(data) is not None or repeats_request(message, task):
            return False
        if without_code(text, code_of(open_question(task).message_id)) != text:
            return True
        try:
            return await self._policy.is_answer(text_in(task.status.message), text, data)
        except Exception:  # a hook of an agent: where it fails, the message is a new request
            log.exception("pending_input.undecided", task_id=task.id)
            return False


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
    """The parts without the context of a delegating agent, which contains the time left and so always differs."""
    parts = [part for part in message.parts if SCOPE_EXTENSION not in part.data.struct_value.fields]
    return [part.SerializeToString(deterministic=True) for part in parts]
