"""No error ends what goes on in the background; a cancellation does."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

import pytest
from structlog.testing import capture_logs

from utils.observability.metrics import process_metrics
from utils.supervised import ItemErrors, followed, supervised
from utils.timing import wait_for


def metric(name: str, loop: str) -> float:
    return process_metrics().registry.get_sample_value(f"platform_engineer_{name}", {"loop": loop}) or 0.0


async def test_a_step_that_fails_is_logged_counted_and_followed_by_the_next_one() -> None:
    steps, seen = list[float](), list[float]()

    async def step() -> float | None:
        seen.append(metric("background_failing", "a"))
        if len(seen) < 3:
            raise KeyError("hook")
        return 7.0 if len(seen) == 3 else None

    async def pause(seconds: float) -> None:
        steps.append(seconds)

    with capture_logs() as lines:
        await supervised("a", step, pause, after=5.0, first=1.0)
    assert seen == [0, 1, 1, 0]
    assert metric("background_failures_total", "a") == 2
    assert [(line["event"], line["log_level"], line["kind"]) for line in lines] == [
        ("background.failed", "error", "KeyError")
    ] * 2
    assert (steps[0], steps[3]) == (5.0, 7.0)
    assert 0.5 <= steps[1] <= 1.0 <= steps[2] <= 2.0


async def test_a_foreseen_error_is_told_without_a_traceback() -> None:
    failed = list[int]()

    async def step() -> float | None:
        if failed:
            return None
        failed.append(1)
        raise OSError

    with capture_logs() as lines:
        await supervised("b", step, first=0.0, foreseen=(OSError,))
    assert [(line["log_level"], "exc_info" in line) for line in lines] == [("warning", False)]


async def test_a_cancellation_ends_it_also_where_a_step_turns_it_into_an_error_or_drops_it() -> None:
    async def drops() -> float:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return 0.0
        return 1.0

    async def turns() -> float:
        try:
            return await drops()
        finally:
            raise OSError

    async def waits() -> float:
        await asyncio.Event().wait()
        return 1.0

    for step in (drops, turns, waits):
        task = asyncio.create_task(supervised("c", step))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert metric("background_failing", "c") == 0


async def test_a_step_that_lasts_counts_as_one_that_works() -> None:
    begun, over = list[int](), asyncio.Event()

    async def step() -> float | None:
        begun.append(1)
        if len(begun) == 1:
            raise KeyError
        await over.wait()
        return None

    task = asyncio.create_task(supervised("d", step, first=0.0, settles=0.001))
    async with asyncio.timeout(30):
        while len(begun) < 2 or metric("background_failing", "d"):
            await asyncio.sleep(0)
    over.set()
    await task
    assert metric("background_failures_total", "d") == 1


async def test_a_source_that_fails_is_made_again_and_the_first_one_closed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("utils.supervised.backoff", lambda *_, **__: 0.0)
    taken, closed = list[str](), list[int]()

    async def source() -> AsyncGenerator[str, None]:
        number = len(closed)
        try:
            yield f"{number} first"
            yield f"{number} second"
            if number == 0:
                raise KeyError
        finally:
            closed.append(number)

    async def take(item: str) -> None:
        taken.append(item)
        if item == "1 first":
            raise ValueError

    await followed("e", source, take)
    assert taken == ["0 first", "0 second", "1 first", "2 first", "2 second"]
    assert closed == [0, 1, 2]


async def test_items_after_one_that_fails_are_worked_on_and_the_first_error_is_raised_at_the_end() -> None:
    done, failures = list[int](), ItemErrors()
    for number in range(4):
        with failures.collect("f"):
            if number in (1, 2):
                raise KeyError(number)
            done.append(number)
    assert done == [0, 3]
    with pytest.raises(KeyError, match="1"):
        failures.raise_first()


async def test_a_wait_tells_whether_what_was_waited_for_came() -> None:
    event = asyncio.Event()
    assert not await wait_for(event, 0.001)
    asyncio.get_running_loop().call_soon(event.set)
    assert await wait_for(event, 60)
