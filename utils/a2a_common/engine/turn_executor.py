"""What the engine asks of an executor beside its work; one that is written for the SDK alone is asked nothing."""

from __future__ import annotations

from abc import abstractmethod

from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events.event_queue import EventQueue


class TurnExecutor(AgentExecutor):
    """An executor that knows of turns. It has all of these, so that a misspelt one is seen by the type checker."""

    @property
    @abstractmethod
    def resumable(self) -> bool:
        """Whether a turn that was cut off can be run again."""

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
    """An executor that is written for the SDK alone: nothing of its turns can be resumed, and it stores nothing for that.

    Args:
        executor: Does the work.
    """

    resumable = False
    begins_with_task = False

    def __init__(self, executor: AgentExecutor) -> None:
        self._executor = executor

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        """Let it work on one message."""
        await self._executor.execute(context, event_queue)

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        """Let it cancel a task."""
        await self._executor.cancel(context, event_queue)

    async def abandon(self, task_id: str) -> None:
        """It has no sub-tasks that it told of."""

    async def forget(self, task_id: str) -> None:
        """It stores nothing for a resume."""


def turn_executor(executor: AgentExecutor) -> TurnExecutor:
    """The executor as the engine sees it."""
    return executor if isinstance(executor, TurnExecutor) else PlainExecutor(executor)
