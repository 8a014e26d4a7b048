"""`Job`: a turn in this process, from the queue to its end, and what a stored task tells about its turns."""

from __future__ import annotations

import asyncio
import contextvars
from dataclasses import dataclass, field

from a2a.server.context import ServerCallContext
from a2a.types.a2a_pb2 import Task, TaskState
from a2a.utils.errors import UnsupportedOperationError

from utils.a2a_common.engine.stage import OVER, Stage, Transition, after
from utils.a2a_common.tasks.open_question import NOT_OPEN, open_question
from utils.a2a_common.tasks.states import INTERRUPTED, TERMINAL
from utils.a2a_common.tasks.turn import Turn
from utils.a2a_common.tasks.writer import CONTINUES_ELSEWHERE, Loss, TaskWriter


@dataclass(eq=False, slots=True)
class Job:
    """A turn in this process.

    Attributes:
        turn: The turn.
        call: The call that submitted it; `None` for a turn of an earlier process.
        context: Context variables of the sender; the turn runs in them.
        resumed: Whether an earlier process accepted it.
        attempts: Number of times that it was taken over from a process that died.
        task: The task as it was when the message arrived, without the parts of its artifacts; `None` for a new one.
        writer: Appends its events; `None` until the task is claimed.
        stage: Its stage; changed by `advance` only.
        work: Its run; `None` before it begins.
        accepted: Set once it is stored or has failed to be.
        ended: Set when only its row is left.
    """

    turn: Turn
    call: ServerCallContext | None
    context: contextvars.Context
    resumed: bool = False
    attempts: int = 0
    task: Task | None = None
    writer: TaskWriter | None = None
    stage: Stage = Stage.NEW
    work: asyncio.Task[None] | None = None
    accepted: asyncio.Event = field(default_factory=asyncio.Event)
    ended: asyncio.Event = field(default_factory=asyncio.Event)

    def advance(self, transition: Transition) -> None:
        """Change the stage.

        Raises:
            IllegalTransition: The transition is not legal in this stage.
        """
        self.stage = after(self.stage, transition)
        if transition in (Transition.STORE, Transition.CLOSE):
            self.accepted.set()
        if self.over:
            self.ended.set()

    def begin(self, work: asyncio.Task[None]) -> None:
        """Record that its run begins.

        Raises:
            IllegalTransition: It was stopped or has begun already.
        """
        self.advance(Transition.BEGIN)
        self.work = work

    @property
    def over(self) -> bool:
        """Whether nothing of it runs or waits in this process."""
        return self.stage in OVER

    @property
    def settled(self) -> bool:
        """Whether the turn is over, though its run may not have returned yet."""
        return self.writer is not None and self.writer.settled

    @property
    def continues_elsewhere(self) -> bool:
        """Whether another process continues the turn, so that its row stays."""
        return self.writer is None or self.writer.reason in CONTINUES_ELSEWHERE

    @property
    def fenced(self) -> bool:
        """Whether another attempt writes the log of its task."""
        return self.writer is not None and self.writer.reason is Loss.FENCED

    @property
    def awaits_user(self) -> bool:
        """Whether its task waits for the user, so that another turn of it follows."""
        head = self.writer.head if self.writer is not None else None
        return head is not None and head.status.state in INTERRUPTED

    @property
    def storage_failed(self) -> bool:
        """Whether the storage failed: the end of the task may not be stored yet."""
        return self.writer is not None and self.writer.reason is Loss.STORAGE

    @property
    def awaits_authentication(self) -> bool:
        """Whether it waits for an authentication; its run may continue after that."""
        head = self.writer.head if self.writer is not None else None
        return head is not None and head.status.state == TaskState.TASK_STATE_AUTH_REQUIRED


def is_new(task: Task | None) -> bool:
    """Whether no run of the task has begun."""
    return task is not None and task.status.state == TaskState.TASK_STATE_SUBMITTED


def is_over(turn: Turn, head: Task | None) -> bool:
    """Whether a stored turn has ended, according to its task.

    A task that has received the answer to its question keeps the waiting state, without the question.
    """
    if head is None:
        return False
    if head.status.state in TERMINAL:
        return True
    if head.status.state not in INTERRUPTED or not head.status.HasField("message"):
        return False
    return has_received(turn, head)


def has_received(turn: Turn, head: Task | None) -> bool:
    """Whether the message of a turn is in the history of its task."""
    if head is None:
        return False
    return any(known.message_id == turn.request.message.message_id for known in head.history)


def asks_same_question(asked: Task, head: Task | None) -> bool:
    """Whether a task still waits with the same question as in `asked`. An answer removes the question from the status."""
    if head is None or head.status.state not in INTERRUPTED:
        return False
    return head.status.message.message_id == asked.status.message.message_id


def check_question_open(turn: Turn, task: Task | None) -> None:
    """Reject an answer if the task's open question has changed since the message was admitted: its sender has not seen the new one."""
    if turn.question and task is not None and open_question(task).message_id != turn.question:
        raise UnsupportedOperationError(NOT_OPEN)


def check_not_ended(task: Task | None) -> None:
    """Reject a message to a task that was canceled after the message was admitted."""
    if task is not None and task.status.state in TERMINAL:
        raise UnsupportedOperationError("The task has ended. Send a message without its id.")


def awaits_answer(task: Task | None) -> bool:
    """Whether a task waits for an answer, so that the run that asked is about to return."""
    if task is None or task.status.state == TaskState.TASK_STATE_AUTH_REQUIRED:
        return False
    return task.status.state in INTERRUPTED and task.status.HasField("message")


def is_suspended(job: Job | None) -> bool:
    """Whether a turn that ran here continues in another process."""
    return job is not None and job.writer is not None and job.writer.reason is Loss.SUSPENDED
