"""Decides for each message whether it starts a turn, repeats a known one, or is refused."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from a2a.server.context import ServerCallContext
from a2a.types.a2a_pb2 import AgentCard, Message, SendMessageRequest
from a2a.utils.errors import InvalidParamsError, TaskNotFoundError, UnsupportedOperationError
from a2a.utils.task import validate_history_length

from utils.a2a_common.engine.contract import Engine
from utils.a2a_common.handler.idempotency import failed_retryably, holds, new_task_id
from utils.a2a_common.handler.keyed_locks import KeyedLocks
from utils.a2a_common.handler.pending_input import PendingInputRouter
from utils.a2a_common.protocol.input_modes import check_content, input_modes_of
from utils.a2a_common.protocol.output_modes import check_output_modes
from utils.a2a_common.protocol.owner import owner_of
from utils.a2a_common.tasks.log import TaskLog
from utils.a2a_common.tasks.states import TERMINAL


@dataclass(frozen=True, slots=True)
class Admitted:
    """What becomes of a message.

    Attributes:
        task_id: Its task, which need not exist yet.
        context_id: The conversation; empty for one that begins with this message.
        repeated: Whether the task has received the message before.
        waits: Whether the task exists, and waits for this message.
    """

    task_id: str
    context_id: str
    repeated: bool = False
    waits: bool = False


class Admission:
    """At most one turn per task at a time, and one per message.

    Args:
        log: The tasks.
        engine: Which of them are worked on.
        pending_input: Finds the task that a message without one belongs to.
        card: Names the media types that the agent takes and gives.
        takes_files: Whether the agent reads parts that are neither text nor JSON objects.
    """

    def __init__(
        self,
        log: TaskLog,
        engine: Engine,
        pending_input: PendingInputRouter,
        *,
        card: AgentCard,
        takes_files: bool = False,
    ) -> None:
        self._log = log
        self._engine = engine
        self._pending_input = pending_input
        self._card = card
        self._takes_files = takes_files
        self._locks = KeyedLocks()

    @asynccontextmanager
    async def admit(self, params: SendMessageRequest, call: ServerCallContext) -> AsyncIterator[Admitted]:
        """Hold the task of a message while its turn is submitted, so that the same message sent at once finds it.

        Raises:
            InvalidParamsError: The message names another context than its task has.
            ContentTypeNotSupportedError: The agent does not take a part of it, or answers in nothing that is accepted.
            TaskNotFoundError: It names a task that the caller does not have.
            UnsupportedOperationError: The task has ended.
        """
        message = params.message
        validate_history_length(params.configuration)
        check_output_modes(params, self._card)
        check_content(message, input_modes_of(self._card), reads_files=self._takes_files)
        owner = owner_of(call)
        answered = message.task_id or await self._pending_input.route(message, call)
        async with self._locks.held(answered or new_task_id(owner, message)):
            if answered:
                yield await self._follow_up(answered, message, owner)
            else:
                yield await self._new_task(message, owner)

    async def _new_task(self, message: Message, owner: str) -> Admitted:
        for retry in itertools.count():
            task_id = new_task_id(owner, message, retry=retry)
            task = await self._log.head(task_id, owner)
            if task is None:
                under_way = self._engine.under_way(task_id)
                return Admitted(task_id, message.context_id, repeated=under_way)
            if not failed_retryably(task):
                return Admitted(task_id, task.context_id, repeated=True)
        raise AssertionError  # the loop has no end

    async def _follow_up(self, task_id: str, message: Message, owner: str) -> Admitted:
        task = await self._log.head(task_id, owner)
        if task is None:
            raise TaskNotFoundError
        if message.context_id and message.context_id != task.context_id:
            raise InvalidParamsError("message.contextId is not the context of the task.")
        repeated = holds(task, message)
        if not repeated and task.status.state in TERMINAL:
            raise UnsupportedOperationError("The task has ended. Send a message without its id.")
        return Admitted(task_id, task.context_id, repeated=repeated, waits=not repeated)
