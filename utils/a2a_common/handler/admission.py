"""Decides for each message whether it starts a turn, repeats a known one, or is refused."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from a2a.server.context import ServerCallContext
from a2a.types.a2a_pb2 import AgentCard, Message, Role, SendMessageRequest, Task
from a2a.utils.errors import InvalidParamsError, TaskNotFoundError, UnsupportedOperationError
from a2a.utils.task import validate_history_length

from utils.a2a_common.engine.turn_engine import TurnEngine
from utils.a2a_common.handler.consent import Consent
from utils.a2a_common.handler.form_answers import check_form
from utils.a2a_common.handler.pending_input import (
    PendingInputRouter,
    failed_retryably,
    holds,
    new_task_id,
)
from utils.a2a_common.handler.read_questions import needs_look
from utils.a2a_common.protocol.media_modes import check_content, check_output_modes, input_modes_of
from utils.a2a_common.protocol.owner import owner_of
from utils.a2a_common.tasks.log import TaskLog
from utils.a2a_common.tasks.open_question import open_question
from utils.a2a_common.tasks.states import INTERRUPTED, TERMINAL
from utils.keyed_locks import KeyedLocks

_ASKED = 2
"""Messages of a task that asked and was answered, at least: the question, and the answer."""


@dataclass(frozen=True, slots=True)
class Admitted:
    """The decision on a message.

    Attributes:
        task_id: Its task, which need not exist yet.
        context_id: The conversation; empty for one that begins with this message.
        repeated: Whether the task has received the message before.
        waits: Whether the task exists, and waits for this message.
        question: Id of the question that it answers; empty where it answers none.
        trusted: Whether the sender began the task, so that a question may be sent with the secret that answers it.
    """

    task_id: str
    context_id: str
    repeated: bool = False
    waits: bool = False
    trusted: bool = False
    question: str = ""


class Admission:
    """At most one turn per task at a time, and one per message.

    Args:
        log: The tasks.
        engine: Knows which of them are being worked on.
        pending_input: Finds the task of a message that names none.
        consent: Decides who may answer a question that asks for approval.
        card: Names the media types that the agent accepts and returns.
        takes_files: Whether the agent reads parts that are neither text nor JSON objects.
    """

    def __init__(
        self,
        log: TaskLog,
        engine: TurnEngine,
        pending_input: PendingInputRouter,
        consent: Consent,
        *,
        card: AgentCard,
        takes_files: bool = False,
    ) -> None:
        self._log = log
        self._engine = engine
        self._pending_input = pending_input
        self._consent = consent
        self._card = card
        self._takes_files = takes_files
        self._locks: KeyedLocks[str] = KeyedLocks()

    @asynccontextmanager
    async def admit(self, params: SendMessageRequest, call: ServerCallContext) -> AsyncIterator[Admitted]:
        """Hold the task of a message while its turn is submitted, so that the same message sent at once finds it.

        1. The agent takes the media types of its parts, and gives one that the client accepts: `media_modes`.
        2. A message that names no task may answer the one of its conversation that waits; of several the rest is
           canceled: `PendingInputRouter`.
        3. It is a new task; or one that waits, where the sender may answer it: `Consent`; or it is a repeated message.

        Raises:
            InvalidParamsError: The message names another context than its task has, or does not fill the form of its question.
            ContentTypeNotSupportedError: The agent does not accept a part of it, or the client none of the agent's output types.
            TaskNotFoundError: It names a task that the caller does not have.
            UnsupportedOperationError: The task has ended, or its approval belongs to another caller.
        """
        message = params.message
        validate_history_length(params.configuration)
        check_output_modes(params, self._card)
        check_content(message, input_modes_of(self._card), reads_files=self._takes_files)
        owner = owner_of(call)
        answered = message.task_id or await self._pending_input.route(message, call)
        async with self._locks.of(answered or new_task_id(owner, message)):
            if answered:
                yield await self._follow_up(answered, message, call)
            else:
                yield await self._new_task(message, owner)

    async def _new_task(self, message: Message, owner: str) -> Admitted:
        for retry in itertools.count():
            task_id = new_task_id(owner, message, retry=retry)
            task = await self._log.head(task_id, owner)
            if task is None:
                under_way = await self._engine.has_turn(task_id, owner)
                return Admitted(task_id, message.context_id, repeated=under_way, trusted=not under_way)
            if not failed_retryably(task):
                return Admitted(task_id, task.context_id, repeated=True)
        raise AssertionError  # the loop has no end

    async def _follow_up(self, task_id: str, message: Message, call: ServerCallContext) -> Admitted:
        task = await self._log.head(task_id, owner_of(call))
        if task is None:
            raise TaskNotFoundError
        if message.context_id and message.context_id != task.context_id:
            raise InvalidParamsError("message.contextId is not the context of the task.")
        lost = _is_abandoned(task, message) and not await self._engine.has_turn(task_id, owner_of(call))
        repeated = holds(task, message) and not lost
        if not repeated and task.status.state in TERMINAL:
            raise UnsupportedOperationError("The task has ended. Send a message without its id.")
        if repeated:
            return Admitted(task_id, task.context_id, repeated=True)
        elsewhere = needs_look(task, message) and await self._pending_input.has_other_approvals(
            task, owner_of(call)
        )
        self._consent.check(task, message, call, elsewhere=elsewhere)
        check_form(task, message)
        trusted = self._consent.proven(task, message)
        asked = open_question(task).message_id
        return Admitted(task_id, task.context_id, waits=True, trusted=trusted, question=asked)


def has_received(task: Task, message: Message) -> bool:
    """Whether a task has received a message, and its turn has written something or may still do so."""
    return holds(task, message) and not _is_abandoned(task, message)


def _is_abandoned(task: Task, message: Message) -> bool:
    """Whether a task has received this answer to its question, and no turn of it has written anything since.

    This happens when the storage lost its own confirmation: the caller got the error that the message was not taken, and
    its turn was given up.
    """
    if task.status.state not in INTERRUPTED or task.status.HasField("message") or len(task.history) < _ASKED:
        return False
    *_, question, last = task.history
    return last.message_id == message.message_id and question.role == Role.ROLE_AGENT
