"""Routes a message that names no task, in a conversation where a task waits for its user.

The message is the answer to that task's question, or a new request; then the waiting task is canceled, because a
conversation has one open question at a time.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import structlog
from a2a.server.context import ServerCallContext
from a2a.types.a2a_pb2 import ListTasksRequest, Message, Task
from a2a.utils.errors import TaskNotCancelableError, TaskNotFoundError
from google.protobuf import json_format

from utils.a2a_common.engine.turn_engine import TurnEngine
from utils.a2a_common.handler.idempotency import failed_retryably, holds, new_task_id
from utils.a2a_common.protocol.delegation_context import find_delegation_context
from utils.a2a_common.protocol.owner import owner_of
from utils.a2a_common.protocol.repeated_request import repeats_request
from utils.a2a_common.protocol.request import ANSWERED_TASK
from utils.a2a_common.tasks.log import TaskLog
from utils.a2a_common.tasks.states import INTERRUPTED

log = structlog.get_logger(__name__)

_NEWEST = 20
"""Tasks of a conversation that are looked at, newest status first."""


class PendingInputPolicy(Protocol):
    """What an agent decides about its tasks that wait for the user."""

    async def is_answer(self, question: str, text: str, data: Sequence[Mapping[str, Any]]) -> bool:
        """Whether a text with its data parts answers a question."""

    async def cancel_children(self, task_id: str) -> None:
        """Cancel what waits at other agents for a task that is canceled while it waits for its user."""


class NoPendingInput:
    """The policy of an agent that has none: every message is a new request, and nothing waits elsewhere."""

    async def is_answer(self, question: str, text: str, data: Sequence[Mapping[str, Any]]) -> bool:
        """No."""
        del question, text, data
        return False

    async def cancel_children(self, task_id: str) -> None:
        """Nothing to cancel."""


class PendingInputRouter:
    """Routes a message that names no task to the task that waits for it.

    Args:
        log: The tasks.
        engine: Which of them are worked on, and how one is canceled.
        policy: Decides whether a message answers a question.
    """

    def __init__(self, log: TaskLog, engine: TurnEngine, policy: PendingInputPolicy) -> None:
        self._log = log
        self._engine = engine
        self._policy = policy

    async def route(self, message: Message, call: ServerCallContext) -> str:
        """The task that a message answers, or answered before; empty for a new request, which cancels what waits."""
        owner = owner_of(call)
        own = new_task_id(owner, message)
        if not message.context_id or await self._engine.works_on(own, owner):
            return ""
        listed = ListTasksRequest(context_id=message.context_id, page_size=_NEWEST)
        tasks = (await self._log.list(listed, owner)).tasks
        received = [task for task in tasks if task.id == own or holds(task, message)]
        for task in received:
            if not failed_retryably(task):
                return "" if task.id == own else task.id
        return await self._answered([task for task in tasks if await self._waits(task, owner)], message, call)

    async def _answered(self, waiting: list[Task], message: Message, call: ServerCallContext) -> str:
        """The task that the message answers, of those that wait; the others are canceled."""
        answered = ""
        if waiting and await self._answers_task(waiting[0], message):
            answered = call.state[ANSWERED_TASK] = waiting.pop(0).id
            log.info("task.answered", task_id=answered)
        for task in waiting:
            log.info("task.left_unanswered", task_id=task.id)
            with contextlib.suppress(TaskNotCancelableError, TaskNotFoundError):
                await self._engine.cancel(task.id, owner_of(call), call)
        return answered

    async def _waits(self, task: Task, owner: str) -> bool:
        return task.status.state in INTERRUPTED and not await self._engine.works_on(task.id, owner)

    async def _answers_task(self, task: Task, message: Message) -> bool:
        """Whether the message answers a task. An agent names the task that it answers, so a delegation never does."""
        text, data = "\n".join(part.text for part in message.parts if part.text), _data(message)
        if find_delegation_context(data) is not None or repeats_request(message, task):
            return False
        try:
            return await self._policy.is_answer(_question(task), text, data)
        except Exception:  # a hook of an agent: where it fails, the message is a new request
            log.exception("pending_input.undecided", task_id=task.id)
            return False


def _question(task: Task) -> str:
    return "\n".join(part.text for part in task.status.message.parts if part.text)


def _data(message: Message) -> list[Mapping[str, Any]]:
    values = [json_format.MessageToDict(part.data) for part in message.parts if part.HasField("data")]
    return [value for value in values if isinstance(value, Mapping)]
