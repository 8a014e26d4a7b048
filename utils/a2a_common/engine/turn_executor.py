"""`TurnExecutor`: an executor that supports the resume of turns, and an adapter for executors that do not."""

from __future__ import annotations

from abc import abstractmethod

from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events.event_queue import EventQueue


class TurnExecutor(AgentExecutor):
    """An executor with the hooks of this engine. All are abstract, so that the type checker finds a misspelt one."""

    @property
    @abstractmethod
    def resumable(self) -> bool:
        """Whether an interrupted turn can be run again."""

    @property
    @abstractmethod
    def begins_with_task(self) -> bool:
        """Whether each of its answers is a task."""

    @abstractmethod
    async def abandon(self, task_id: str) -> None:
        """Cancel the sub-tasks of a task that ended without its run."""

    @abstractmethod
    async def forget(self, task_id: str) -> None:
        """Delete what is stored for the resume of a task that has ended, and whose turn can never be resumed."""


class PlainExecutor(TurnExecutor):
    """Adapter for an executor that only knows the SDK: its turns cannot be resumed.

    Args:
        executor: Does the work.
    """

    resumable = False
    begins_with_task = False

    def __init__(self, executor: AgentExecutor) -> None:
        self._executor = executor

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        """Pass the message on."""
        await self._executor.execute(context, event_queue)

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        """Pass the cancellation on."""
        await self._executor.cancel(context, event_queue)

    async def abandon(self, task_id: str) -> None:
        """Do nothing: its sub-tasks are unknown."""

    async def forget(self, task_id: str) -> None:
        """Do nothing: it stores nothing for a resume."""


def turn_executor(executor: AgentExecutor) -> TurnExecutor:
    """The executor itself if it is a `TurnExecutor`, otherwise an adapter around it."""
    return executor if isinstance(executor, TurnExecutor) else PlainExecutor(executor)
