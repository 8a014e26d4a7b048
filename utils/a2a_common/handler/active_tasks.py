"""The SDK's registry of running tasks, without its leaks."""

from __future__ import annotations

import asyncio
from functools import partial

from a2a.server.agent_execution.active_task import ActiveTask
from a2a.server.agent_execution.active_task_registry import ActiveTaskRegistry
from a2a.server.context import ServerCallContext
from a2a.types.a2a_pb2 import Message


class TidyRegistry(ActiveTaskRegistry):
    """Lets go of a task that could not be taken up.

    The SDK opens two queues, each with an asyncio task, before it looks whether there is such a task and whether
    it goes on. A cancel that comes after the end left both to the garbage collector, which logs an error for each.
    A caller that went away during that look left the task in the table, not begun: the same message sent again
    would have waited for it for ever. A second cancel that came while the first one closed the queues left them
    open, and with them their reader, and a cancel that was never answered.
    """

    async def get_or_create(
        self,
        task_id: str,
        call_context: ServerCallContext,
        context_id: str | None = None,
        create_task_if_missing: bool = False,
        initial_message: Message | None = None,
    ) -> ActiveTask:
        """The task that is worked on, taken up where nobody does.

        Raises:
            TaskNotFoundError: There is none, and none is to be made.
            UnsupportedOperationError: It has ended.
        """
        before = self._active_tasks.get(task_id)
        try:
            active_task = await super().get_or_create(
                task_id, call_context, context_id, create_task_if_missing, initial_message
            )
        except asyncio.CancelledError:
            opened = self._active_tasks.get(task_id)
            if opened is not None and opened is not before and not _began(opened):
                opened._is_finished.set()  # noqa: SLF001 - who found it meanwhile is refused, not kept waiting
                self._on_active_task_cleanup(opened)
            raise
        if active_task is not before and active_task._producer_task is not None:  # noqa: SLF001
            active_task._producer_task.add_done_callback(partial(self._check_end, active_task))  # noqa: SLF001
        return active_task

    def _check_end(self, active_task: ActiveTask, producer: asyncio.Task[None]) -> None:
        """Close the queues where a cancel broke off their closing; otherwise the producer has done so."""
        if producer.cancelled() and not self._closed:
            closing = asyncio.create_task(_close(active_task))
            self._cleanup_tasks.add(closing)
            closing.add_done_callback(self._cleanup_tasks.discard)

    async def _remove_task(self, active_task: ActiveTask) -> None:
        await super()._remove_task(active_task)
        if not _began(active_task):
            queues = (active_task._event_queue_agent, active_task._event_queue_subscribers)  # noqa: SLF001
            await asyncio.gather(*(queue.close(immediate=True) for queue in queues))


async def _close(active_task: ActiveTask) -> None:
    """Close the queues once what is in them has been read."""
    await active_task._event_queue_agent.close()  # noqa: SLF001
    await active_task._event_queue_subscribers.close()  # noqa: SLF001


def _began(active_task: ActiveTask) -> bool:
    return active_task._producer_task is not None  # noqa: SLF001
