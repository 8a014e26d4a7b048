"""Runs the supervisor's turns as A2A tasks."""

from __future__ import annotations

import structlog

from utils.a2a_common.execution.executor import BaseLangGraphAgentExecutor

log = structlog.get_logger(__name__)


class SupervisorExecutor(BaseLangGraphAgentExecutor):
    """Runs the supervisor's turns, and ends at other agents what a turn that does not go on had begun there."""

    async def abandon(self, task_id: str) -> None:
        """Cancel the delegations of a task that ended without its run: canceled while it waited, or cut off for good."""
        log.info("delegations.abandoned", task_id=task_id)
        await super().abandon(task_id)
