"""Decides for each message whether it starts a turn, repeats a known one, or is refused."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass

from a2a.server.context import ServerCallContext
from a2a.types.a2a_pb2 import AgentCard, SendMessageRequest, Task
from a2a.utils.errors import TaskNotFoundError, UnsupportedOperationError

from utils.a2a_common.handler.idempotency import Begun, holds, new_task_id
from utils.a2a_common.handler.message_rules import check_request
from utils.a2a_common.handler.pending_input import PendingInputRouter
from utils.a2a_common.protocol.input_modes import check_content, input_modes_of
from utils.a2a_common.protocol.owner import owner_of
from utils.a2a_common.tasks.turns import Turns
from utils.persistence.task_states import INTERRUPTED, OPEN, TERMINAL
from utils.persistence.tasks import ChunkedTaskStore

_LOOK_SECONDS = 1.0
"""Longest wait for a change of a task before it is looked at again."""


@dataclass(frozen=True, slots=True)
class Admitted:
    """What becomes of a message.

    Attributes:
        task_id: Its task, which need not exist yet.
        repeated: Whether the task has received the message before.
    """

    task_id: str
    repeated: bool


class Admission:
    """At most one turn per task at a time, and one per message for ever.

    Args:
        store: The tasks.
        turns: Which of them are worked on in this process.
        pending_input: Finds the task that a message without one belongs to.
        card: Names the media types that the agent takes.
        takes_files: Whether the agent reads parts that are neither text nor JSON objects.
    """

    def __init__(
        self,
        store: ChunkedTaskStore,
        turns: Turns,
        pending_input: PendingInputRouter,
        *,
        card: AgentCard,
        takes_files: bool = False,
    ) -> None:
        self._card = card
        self._tasks = store
        self._turns = turns
        self._pending_input = pending_input
        self._takes_files = takes_files
        self._begun = Begun()

    async def admit(self, params: SendMessageRequest, context: ServerCallContext) -> Admitted:
        """Reserve a turn for the message, unless its task has it already.

        A message without a task that answers the question of one is given that task's id.

        Raises:
            InvalidParamsError: The message is malformed.
            ContentTypeNotSupportedError: The agent does not take a part of it.
            TaskNotFoundError: It names a task that the caller does not have.
            UnsupportedOperationError: The task is working on something else.
        """
        message = params.message
        check_request(params)
        check_content(message, input_modes_of(self._card), reads_files=self._takes_files)
        await self._pending_input.route(message, context)
        task_id = message.task_id or new_task_id(owner_of(context), message)
        while True:
            with self._tasks.watched(task_id) as changed:
                stored = await self._tasks.get(task_id, context)
                task = stored.task if stored else None
                if task is None and message.task_id:
                    raise TaskNotFoundError
                if task is not None and holds(task, message):
                    return Admitted(task_id, repeated=True)
                if self._reserved(task_id, task):
                    self._begun.note(task_id, message.message_id)
                    return Admitted(task_id, repeated=False)
                if not self._begun.is_newest(task_id, message.message_id):
                    raise UnsupportedOperationError("The task is working. Wait for its end, or cancel it.")
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(changed.wait(), _LOOK_SECONDS)

    def release(self, admitted: Admitted) -> None:
        """The answer is given; where its turn did not begin, the task takes messages again."""
        if not admitted.repeated:
            self._turns.abandon(admitted.task_id)

    def settled(self, task: Task, message_id: str) -> bool:
        """Whether the turn that this message began is over, as far as the task tells.

        A task that has just received an answer still says that it waits, but no longer what for. One in a terminal
        state is over, though its executor may not have returned yet.
        """
        if task.status.state in TERMINAL:
            return True
        if task.status.state in OPEN or self._turns.under_way(task.id):
            return False
        answered = task.status.state in INTERRUPTED and not task.status.HasField("message")
        return not (answered and self._begun.is_newest(task.id, message_id))

    def _reserved(self, task_id: str, task: Task | None) -> bool:
        return (task is None or task.status.state not in OPEN) and self._turns.reserve(task_id)
