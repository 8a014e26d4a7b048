"""What the guard before the event queue costs for each event, beside the queue alone.

python -m benchmarks.guard
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from statistics import median
from typing import Any

from a2a.server.events import EventQueue
from a2a.types.a2a_pb2 import TaskState, TaskStatus, TaskStatusUpdateEvent

from utils.a2a_common.execution.publisher import Publisher

ROUNDS = 9
EVENTS = 1_000


class Sink(EventQueue):
    """A queue that is always empty."""

    async def enqueue_event(self, event: Any) -> None:
        """Take it and forget it."""


async def _milliseconds(say: Callable[[], Awaitable[Any]]) -> float:
    began = time.perf_counter()
    for _ in range(EVENTS):
        await say()
    return (time.perf_counter() - began) * 1_000


async def measure() -> tuple[float, float]:
    """Milliseconds for all events: through the guard, and into the queue directly."""
    queue = Sink()
    guard = Publisher(queue, "task", "context", agent="agent")

    async def directly() -> None:
        status = TaskStatus(state=TaskState.TASK_STATE_WORKING)
        status.timestamp.GetCurrentTime()
        await queue.enqueue_event(TaskStatusUpdateEvent(task_id="task", context_id="context", status=status))

    async def guarded() -> None:
        await guard.working()

    pairs = [(await _milliseconds(guarded), await _milliseconds(directly)) for _ in range(ROUNDS)]
    return median(ours for ours, _ in pairs), median(bare for _, bare in pairs)


async def run() -> None:
    """Print the figures."""
    ours, bare = await measure()
    print(f"queue guard, 1,000 events: {ours:.2f} ms, the queue alone {bare:.2f} ms")


if __name__ == "__main__":
    asyncio.run(run())
