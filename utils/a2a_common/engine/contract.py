"""`Engine`: runs turns; `TurnRunner`: what it runs them with."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import Protocol

from a2a.server.context import ServerCallContext
from a2a.types.a2a_pb2 import Task

from utils.a2a_common.tasks.turn import Turn
from utils.a2a_common.tasks.writer import TaskWriter


class Engine(Protocol):
    """Decides when and where a turn runs. Whoever wants to know how it goes reads the task log."""

    async def start(self) -> None:
        """Go on with the turns that an earlier process left.

        Raises:
            StorageError: The stored turns cannot be read.
        """

    async def submit(self, turn: Turn, call: ServerCallContext) -> None:
        """Accept a turn: it is stored, it will be run, and the log can be read from now.

        Args:
            turn: The turn.
            call: The call that brought it. It is not stored; a resumed turn runs without it.

        Raises:
            Overloaded: Too many turns wait.
            Draining: The process is about to stop.
            TaskBusy: Another turn of the task is under way.
            StorageError: The turn cannot be stored.
        """

    async def cancel(self, task_id: str, owner: str, call: ServerCallContext) -> None:
        """Cancel a task: when this returns, its run has stopped and the task is in a terminal state.

        Raises:
            TaskNotFoundError: The owner has no such task.
            TaskNotCancelableError: It has ended before.
            Draining: The process stops before the end is stored; the turn goes on in the next one.
            StorageError: The end cannot be stored.
        """

    async def drain(self, grace: float) -> None:
        """Take no new turns, let the running ones finish within `grace` seconds, and keep the rest for the next process.

        A turn that cannot be resumed fails with code `interrupted`.
        """

    async def works_on(self, task_id: str, owner: str) -> bool:
        """Whether a turn of the owner's task runs, waits or is being canceled, here or in another process.

        Raises:
            StorageError: That cannot be learned.
        """

    def at_rest(self, conversation: str) -> AbstractAsyncContextManager[bool]:
        """Let no turn of a conversation begin within the block, in no process; `False` where one is under way.

        Raises:
            StorageError: That cannot be learned.
        """


class TurnRunner(Protocol):
    """Runs one turn to its end, and writes what happens to the log.

    Attributes:
        resumable: Whether a turn that was cut off can be run again from where it was.
    """

    @property
    def resumable(self) -> bool:
        """See above."""

    async def accept(self, turn: Turn, writer: TaskWriter) -> None:
        """Publish the task of a turn that has to wait.

        Raises:
            StorageError: It cannot be stored.
        """

    async def run(
        self,
        turn: Turn,
        writer: TaskWriter,
        *,
        task: Task | None,
        call: ServerCallContext | None,
        resumed: bool,
    ) -> None:
        """Run a turn. When this returns, the turn is settled, or the log takes no more of its events.

        Args:
            turn: The turn.
            writer: Takes its events.
            task: The task as it was when the message came, without the parts of its artifacts; `None` for a new one.
            call: The call that brought it; `None` for a turn of an earlier process.
            resumed: Whether an earlier process began it.
        """

    async def cancel(
        self, task_id: str, context_id: str, writer: TaskWriter, call: ServerCallContext
    ) -> None:
        """Tell the executor to cancel a task. When this returns, the task is in a terminal state."""

    async def abandon(self, task_id: str) -> None:
        """Cancel the sub-tasks of a task that ended without its run."""

    async def forget(self, task_id: str) -> None:
        """Delete what is stored for the resume of a task that has ended, and whose turn can never be resumed."""
