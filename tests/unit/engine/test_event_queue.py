"""The event queue over the task log: when it is closed, when it opens again, and what it drops."""

from __future__ import annotations

from typing import Any

import pytest
from a2a.types.a2a_pb2 import Task, TaskArtifactUpdateEvent, TaskState, TaskStatus, TaskStatusUpdateEvent
from structlog.testing import capture_logs

from tests.unit.engine.turns import OWNER
from tests.unit.tasks.faulty_store import FaultyStore
from utils.a2a_common.engine.event_queue import LogQueue
from utils.a2a_common.tasks.log import TaskLog
from utils.errors import ProtocolViolation
from utils.observability import catalogue
from utils.observability.metrics import process_metrics
from utils.persistence.task_log_memory import MemoryTaskLogStore


def task(task_id: str = "t") -> Task:
    return Task(id=task_id, context_id="c", status=TaskStatus(state=TaskState.TASK_STATE_SUBMITTED))


def status(state: TaskState, task_id: str = "t") -> TaskStatusUpdateEvent:
    return TaskStatusUpdateEvent(task_id=task_id, context_id="c", status=TaskStatus(state=state))


WORKING = TaskState.TASK_STATE_WORKING
COMPLETED = TaskState.TASK_STATE_COMPLETED


def messages(logs: list[Any]) -> list[tuple[str, str]]:
    """What `grep Queue` finds: the words and the task."""
    return [(line["message"], line["task_id"]) for line in logs if "message" in line]


def dropped(reason: str) -> float:
    found = process_metrics().registry.get_sample_value(catalogue.DROPPED.name, {"reason": reason})
    return found or 0.0


class Readers:
    """How many streams are open, as a test says."""

    def __init__(self) -> None:
        self.open = 0

    def __call__(self) -> int:
        return self.open


async def test_the_last_reader_that_leaves_closes_the_queue_which_says_so_once_and_drops_nothing() -> None:
    log, readers = TaskLog(MemoryTaskLogStore()), Readers()
    writer = await log.claim("t", OWNER)
    queue = LogQueue(writer, "t", readers)
    with capture_logs() as logs:
        await queue.enqueue_event(task())
        readers.open = 1
        await queue.enqueue_event(status(WORKING))
        readers.open = 0
        for _ in range(35):
            await queue.enqueue_event(status(WORKING))
        await queue.enqueue_event(status(COMPLETED))
    assert messages(logs) == [("Queue is closed", "t")]
    assert logs[0]["reason"] == "unread"
    assert queue.dropped == 0
    assert len([entry async for entry in log.read("t", OWNER)]) == 38


async def test_a_queue_that_opens_again_is_said_and_used() -> None:
    log, readers = TaskLog(MemoryTaskLogStore()), Readers()
    queue = LogQueue(await log.claim("t", OWNER), "t", readers)
    with capture_logs() as logs:
        await queue.enqueue_event(task())
        for open_streams in (1, 0, 0, 1, 2, 0):
            readers.open = open_streams
            await queue.enqueue_event(status(WORKING))
    assert [words for words, _ in messages(logs)] == ["Queue is closed", "Queue reopened", "Queue is closed"]


async def test_a_task_that_is_not_streamed_closes_nothing() -> None:
    queue = LogQueue(await TaskLog(MemoryTaskLogStore()).claim("t", OWNER), "t", Readers())
    with capture_logs() as logs:
        for event in (task(), status(WORKING), status(COMPLETED)):
            await queue.enqueue_event(event)
    assert (logs, queue.closed) == ([], None)


async def test_thirty_five_events_after_closure_log_one_line() -> None:
    log = TaskLog(MemoryTaskLogStore())
    queue = LogQueue(await log.claim("t", OWNER), "t")
    before = dropped("ended")
    with capture_logs() as logs:
        await queue.enqueue_event(task())
        await queue.enqueue_event(status(COMPLETED))
        for _ in range(35):
            await queue.enqueue_event(status(WORKING))
    assert messages(logs) == [("Queue is closed", "t")]
    assert logs[0]["reason"] == "ended"
    assert (queue.dropped, dropped("ended") - before) == (35, 35)
    assert len([entry async for entry in log.read("t", OWNER)]) == 2


async def test_each_task_says_its_own_closure_once() -> None:
    log = TaskLog(MemoryTaskLogStore())
    queues = [LogQueue(await log.claim(name, OWNER), name) for name in ("t-0", "t-1", "t-2")]
    with capture_logs() as logs:
        for number, queue in enumerate(queues):
            await queue.enqueue_event(task(f"t-{number}"))
            await queue.enqueue_event(status(COMPLETED, f"t-{number}"))
        for _ in range(5):
            for number, queue in enumerate(queues):
                await queue.enqueue_event(status(WORKING, f"t-{number}"))
    assert sorted(name for _, name in messages(logs)) == ["t-0", "t-1", "t-2"]


async def test_an_attempt_that_was_taken_over_writes_nothing_any_more() -> None:
    log = TaskLog(MemoryTaskLogStore())
    queue = LogQueue(await log.claim("t", OWNER), "t")
    await queue.enqueue_event(task())
    await log.claim("t", OWNER)
    with capture_logs() as logs:
        for _ in range(3):
            await queue.enqueue_event(status(WORKING))
    assert messages(logs) == [("Queue is closed", "t")]
    assert (queue.closed, queue.dropped) == ("fenced", 3)


async def test_a_storage_that_fails_closes_the_queue_without_an_error_for_the_executor() -> None:
    store = FaultyStore()
    queue = LogQueue(await TaskLog(store).claim("t", OWNER), "t")
    await queue.enqueue_event(task())
    store.failing.add("*")
    with capture_logs() as logs:
        await queue.enqueue_event(status(COMPLETED))
        await queue.enqueue_event(status(WORKING))
    assert messages(logs) == [("Queue is closed", "t")]
    assert (queue.closed, queue.dropped) == ("storage", 2)


async def test_a_repeated_task_and_a_step_back_are_dropped_and_close_nothing() -> None:
    queue = LogQueue(await TaskLog(MemoryTaskLogStore()).claim("t", OWNER), "t")
    with capture_logs() as logs:
        for event in (task(), status(WORKING), task(), status(TaskState.TASK_STATE_SUBMITTED)):
            await queue.enqueue_event(event)
    assert (logs, queue.closed, queue.dropped) == ([], None, 2)
    assert dropped("repeated") == 0


async def test_other_errors_of_a_queue_are_not_swallowed() -> None:
    queue = LogQueue(await TaskLog(MemoryTaskLogStore()).claim("t", OWNER), "t")
    await queue.enqueue_event(task())
    piece = TaskArtifactUpdateEvent(task_id="another", context_id="c")
    with pytest.raises(ProtocolViolation):
        await queue.enqueue_event(piece)
    number = status(WORKING)
    number.metadata.update({"n": float("nan")})
    with pytest.raises(ProtocolViolation):
        await queue.enqueue_event(number)
