"""The SDK's table of tasks that are worked on, without what it leaves behind."""

from __future__ import annotations

import asyncio

from a2a.server.agent_execution.active_task import ActiveTask
from a2a.server.agent_execution.active_task_registry import ActiveTaskRegistry


class TidyRegistry(ActiveTaskRegistry):
    """Closes the queues of a task that could not be taken up.

    The SDK opens two queues, each with an asyncio task, before it looks whether there is such a task and whether
    it goes on. A cancel that comes after the end left both to the garbage collector, which logs an error for each.
    """

    async def _remove_task(self, active_task: ActiveTask) -> None:
        await super()._remove_task(active_task)
        if active_task._producer_task is None:  # noqa: SLF001 - it never began
            queues = (active_task._event_queue_agent, active_task._event_queue_subscribers)  # noqa: SLF001
            await asyncio.gather(*(queue.close(immediate=True) for queue in queues))
