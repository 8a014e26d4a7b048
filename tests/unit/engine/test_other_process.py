"""A process that stalled and goes on submits a message which another process has received meanwhile."""

from __future__ import annotations

import asyncio

from tests.unit.engine.turns import Executor, House, answer, status_of, task_of, turn
from utils.persistence.runs import MemoryRuns, RunRow


async def ask(context, queue) -> None:
    """An executor's work: the task, then a question to its user."""
    if context.current_task is None:
        await queue.enqueue_event(task_of(context))
    await queue.enqueue_event(status_of(context, "input_required", "Which one?"))


async def test_what_another_process_has_finished_is_not_run_again() -> None:
    first = House(Executor(ask))
    await first.submit(turn("a"))
    assert await first.settled("a") == ["input_required"]
    late = first.next(Executor(answer))
    await late.submit(turn("a"))
    assert await late.settled("a") == ["input_required"]
    assert late.executor.began == []
    assert not late.engine.under_way("a")


async def test_what_another_process_still_runs_is_taken_over_and_resumed() -> None:
    begun, go_on = asyncio.Event(), asyncio.Event()

    async def slow(context, queue) -> None:
        await queue.enqueue_event(task_of(context))
        begun.set()
        await go_on.wait()
        await answer(context, queue)

    first = House(Executor(slow, resumable=True))
    await first.submit(turn("a"))
    await begun.wait()
    late = first.next(Executor(answer, resumable=True))
    await late.submit(turn("a"))
    assert await late.settled("a") == ["completed"]
    assert [context.resumed for context in late.executor.contexts] == [True]
    go_on.set()
    assert await first.settled("a") == ["completed"]
    kinds = [type(event).__name__ for event in await late.events("a")]
    assert kinds.count("TaskArtifactUpdateEvent") == 1


class SlowPut(MemoryRuns):
    """The table of runs of two processes; the first `put` waits for `go_on`, as the process that makes it stalls."""

    def __init__(self) -> None:
        super().__init__()
        self.putting, self.go_on = asyncio.Event(), asyncio.Event()

    async def put(self, row: RunRow) -> None:
        if not self.putting.is_set():
            self.putting.set()
            await self.go_on.wait()
        await super().put(row)


async def test_a_row_that_is_stored_after_another_process_ended_the_turn_is_removed() -> None:
    runs = SlowPut()
    stalled = House(Executor(answer), runs=runs)
    submitting = asyncio.create_task(stalled.submit(turn("a")))
    await runs.putting.wait()
    other = stalled.next(Executor(answer))
    await other.submit(turn("a"))
    assert await other.settled("a") == ["completed"]
    async with asyncio.timeout(60):
        while await runs.rows():
            await asyncio.sleep(0)
    runs.go_on.set()
    await submitting
    await stalled.settled("a")
    for _ in range(50):
        await asyncio.sleep(0)
    assert await runs.rows() == []
