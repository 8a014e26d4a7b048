"""The guarded queue of one run: closing, opening again, a queue that is stuck."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from a2a.server.events import EventQueue
from a2a.types.a2a_pb2 import TaskState
from structlog.testing import capture_logs

from utils.a2a_common.execution.event_sink import EventSink


class Queue(EventQueue):
    """A queue that a test closes and opens."""

    def __init__(self) -> None:
        self.closed = False
        self.events: list[Any] = []
        self.full = asyncio.Event()
        self.error: Exception | None = None

    def is_closed(self) -> bool:
        return self.closed

    async def enqueue_event(self, event: Any) -> None:
        if self.error:
            raise self.error
        if self.full.is_set():
            await asyncio.Event().wait()
        self.events.append(event)


async def work(sink: EventSink) -> None:
    await sink.status(TaskState.TASK_STATE_WORKING)


def names(logs: list[Any]) -> list[str]:
    return [line["message"] for line in logs if "message" in line]


async def test_each_task_logs_its_own_closure_once() -> None:
    queue = Queue()
    queue.closed = True
    sinks = [EventSink(queue, f"t-{index}", "c") for index in range(3)]
    with capture_logs() as logs:
        for _ in range(5):
            for sink in sinks:
                await work(sink)
    assert sorted(line["task_id"] for line in logs) == ["t-0", "t-1", "t-2"]


async def test_a_queue_that_opens_again_is_said_and_used() -> None:
    queue = Queue()
    sink = EventSink(queue, "t", "c")
    with capture_logs() as logs:
        for closed in (True, True, False, False, True):
            queue.closed = closed
            await work(sink)
    assert names(logs) == ["Queue is closed", "Queue reopened", "Queue is closed"]
    assert (len(queue.events), sink.dropped) == (2, 3)


async def test_a_queue_that_nobody_empties_is_given_up() -> None:
    queue = Queue()
    queue.full.set()
    sink = EventSink(queue, "t", "c", seconds=0.05)
    with capture_logs() as logs:
        async with asyncio.timeout(5):
            await work(sink)
            await work(sink)
    assert sink.gone.is_set()
    assert [line["event"] for line in logs] == ["event_queue.stuck"]


async def test_other_errors_of_a_queue_are_not_swallowed() -> None:
    queue = Queue()
    queue.error = RuntimeError("something else")
    with pytest.raises(RuntimeError, match="something else"):
        await work(EventSink(queue, "t", "c"))


async def test_nothing_follows_a_terminal_status() -> None:
    queue = Queue()
    sink = EventSink(queue, "t", "c")
    await sink.status(TaskState.TASK_STATE_COMPLETED)
    await sink.status(TaskState.TASK_STATE_FAILED)
    assert len(queue.events) == 1
    assert sink.dropped == 1
