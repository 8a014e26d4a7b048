"""Runs the supervisor's turns as A2A tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import structlog

from utils.a2a_common.execution.executor import BaseLangGraphAgentExecutor

if TYPE_CHECKING:
    from a2a.server.agent_execution import RequestContext
    from a2a.server.events import EventQueue

    from multi_agents.platform_engineer.access import Access
    from utils.a2a_common.execution.executor import StreamingAgent

log = structlog.get_logger(__name__)


class SupervisorExecutor(BaseLangGraphAgentExecutor):
    """Runs the supervisor's turns, and cancels at other agents the tasks of a turn that will not continue.

    Args:
        agent: The supervisor.
        access: Its identity at other agents.
        turn_seconds: Most seconds of one run of a turn; the caller may allow less.
    """

    def __init__(self, agent: StreamingAgent, access: Access, *, turn_seconds: float | None = None) -> None:
        super().__init__(agent, turn_seconds=turn_seconds)
        self._access = access

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        """Work on one message; the credentials for other agents are kept only for this time."""
        task_id = context.task_id or ""
        access = self._access.of(task_id)
        try:
            await super().execute(context, event_queue)
        finally:
            self._access.drop(task_id, access)

    async def abandon(self, task_id: str) -> None:
        """Cancel the delegations of a task that ends without a run and without a cancel: it was cut off for good."""
        log.info("delegations.abandoned", task_id=task_id)
        await super().abandon(task_id)
        self._access.drop(task_id, self._access.of(task_id))
