"""A cancellation that a library drops is not lost."""

from __future__ import annotations

import asyncio

import pytest

from utils.cancellation import Cancellation, end_tasks, to_its_end


async def test_a_task_that_loses_a_cancellation_is_canceled_again() -> None:
    begun = asyncio.Event()
    lost: list[str] = []

    async def listen() -> None:
        while True:
            try:
                begun.set()
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                if lost:
                    raise
                lost.append("one")

    task = asyncio.create_task(listen())
    await begun.wait()
    await end_tasks([task], again=0.01)
    assert task.cancelled()
    assert lost == ["one"]


def test_nothing_is_waited_for_where_there_are_no_tasks() -> None:
    with pytest.raises(StopIteration):
        end_tasks([]).send(None)


async def test_what_a_task_ended_with_is_nobodys_loss() -> None:
    async def breaks() -> None:
        raise ValueError

    told: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: told.append(context))
    await end_tasks([asyncio.create_task(breaks())])
    await asyncio.sleep(0)
    assert told == []


async def test_whoever_waits_with_a_limit_and_is_canceled_as_it_comes_is_told_afterwards() -> None:
    event = asyncio.Event()

    async def work() -> None:
        cancellation = Cancellation()
        waiting = asyncio.ensure_future(event.wait())
        waiting.add_done_callback(lambda _: task.cancel())
        await asyncio.wait_for(waiting, 60)
        cancellation.check()

    task = asyncio.create_task(work())
    await asyncio.sleep(0)
    event.set()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_cancellation_that_was_taken_back_is_none() -> None:
    cancellation = Cancellation()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0):
            await asyncio.Event().wait()
    cancellation.check()


async def test_work_that_must_not_stop_half_way_ends_before_whoever_waits_for_it_is_canceled() -> None:
    begun, may_end, done = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def work() -> None:
        begun.set()
        await may_end.wait()
        done.set()

    task = asyncio.create_task(to_its_end(work()))
    await begun.wait()
    for _ in range(2):
        task.cancel()
        await asyncio.sleep(0)
    assert not task.done()
    may_end.set()
    await asyncio.wait([task])
    assert task.cancelled()
    assert done.is_set()


async def test_what_such_work_raises_is_told_rather_than_the_cancel() -> None:
    begun, may_end = asyncio.Event(), asyncio.Event()

    async def work() -> None:
        begun.set()
        await may_end.wait()
        raise ValueError

    task = asyncio.create_task(to_its_end(work()))
    await begun.wait()
    task.cancel()
    may_end.set()
    await asyncio.wait([task])
    assert isinstance(task.exception(), ValueError)


async def test_what_such_work_returns_is_returned() -> None:
    async def work() -> int:
        return 3

    assert await to_its_end(work()) == 3
