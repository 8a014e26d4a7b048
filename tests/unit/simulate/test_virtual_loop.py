"""The event loop of the simulator: virtual time, an order that a seed decides, processes that die and stall."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

import pytest

from benchmarks.simulate.process import Process
from benchmarks.simulate.virtual_loop import Deadlock, TooManySteps, VirtualLoop


def order_of(seed: int, order: str = "random") -> list[int]:
    ran: list[int] = []

    async def one(number: int) -> None:
        for _ in range(3):
            await asyncio.sleep(0)
            ran.append(number)

    async def main() -> None:
        await asyncio.gather(*(one(number) for number in range(5)))

    VirtualLoop.of(seed, order=order).run(main())
    return ran


def test_an_hour_passes_at_once():
    loop = VirtualLoop.of(1)

    async def main() -> str:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(3600):
                await asyncio.Event().wait()
        return "done"

    assert loop.run(main()) == "done"
    assert 3600 <= loop.time() < 3601


def test_a_timer_that_is_canceled_when_its_time_has_come_is_never_called():
    loop = VirtualLoop.of(1, order="fifo")
    called: list[str] = []

    async def main() -> None:
        due: list[asyncio.TimerHandle] = []
        loop.call_at(1.0, lambda: due[0].cancel())
        due.append(loop.call_at(1.0, called.append, "late"))
        await asyncio.sleep(2.0)

    loop.run(main())
    assert called == []


def test_the_same_seed_runs_the_same_order_and_another_one_another():
    assert order_of(1) == order_of(1)
    assert len({tuple(order_of(seed)) for seed in range(10)}) > 5


def test_in_fifo_order_steps_run_as_asyncio_runs_them():
    assert order_of(1, "fifo") == [0, 1, 2, 3, 4] * 3


def test_a_schedule_that_waits_for_nothing_is_a_deadlock():
    async def main() -> None:
        await asyncio.Event().wait()

    with pytest.raises(Deadlock):
        VirtualLoop.of(1).run(main())


def test_a_schedule_that_never_waits_is_cut():
    async def main() -> None:
        while True:
            await asyncio.sleep(0)

    with pytest.raises(TooManySteps):
        VirtualLoop.of(1, most_steps=1000).run(main())


def test_a_dead_process_runs_no_step_and_no_finally():
    ran: list[str] = []
    process = Process("p")

    async def child() -> None:
        try:
            await asyncio.sleep(1)
            ran.append("child")
        finally:
            ran.append("finally")

    async def work() -> None:
        kept = asyncio.create_task(child())
        await asyncio.sleep(2)
        await kept
        ran.append("work")

    async def main() -> None:
        process.spawn(work())
        await asyncio.sleep(0.5)
        process.die()
        await asyncio.sleep(10)
        assert ran == []

    VirtualLoop.of(1).run(main())


def test_a_process_dies_before_the_step_that_fate_names():
    ran: list[int] = []
    process = Process("p")
    process.fates[3] = process.die

    async def work() -> None:
        for number in range(10):
            ran.append(number)
            await asyncio.sleep(0)

    async def main() -> None:
        process.spawn(work())
        await asyncio.sleep(1)

    VirtualLoop.of(1).run(main())
    assert ran == [0, 1]


def test_a_stalled_process_goes_on_where_it_stood():
    ran: list[float] = []
    process, loop = Process("p"), VirtualLoop.of(1)

    async def work() -> None:
        await asyncio.sleep(1)
        ran.append(loop.time())

    async def main() -> None:
        process.spawn(work())
        await asyncio.sleep(0.5)
        process.stall()
        await asyncio.sleep(10)
        assert ran == []
        loop.release(process.go_on())
        await asyncio.sleep(0.1)

    loop.run(main())
    assert [round(when, 1) for when in ran] == [10.5]


def test_an_error_that_nobody_handles_is_remembered():
    loop = VirtualLoop.of(1)

    async def fail() -> None:
        raise ValueError("unheard")

    async def main() -> None:
        task = asyncio.create_task(fail())
        await asyncio.sleep(1)
        assert task.done()

    loop.run(main())
    assert ["unheard" in each for each in loop.unhandled] == [True]


def test_a_generator_that_nobody_reads_any_more_is_closed():
    closed: list[bool] = []

    async def numbers() -> AsyncGenerator[int, None]:
        try:
            yield 1
            yield 2
        finally:
            closed.append(True)

    async def main() -> None:
        async for _ in numbers():
            break
        await asyncio.sleep(0.1)

    VirtualLoop.of(1).run(main())
    assert closed == [True]
