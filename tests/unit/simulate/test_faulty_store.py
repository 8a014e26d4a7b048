"""Faults of a store: what was done, and what the caller hears of it."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable

import pytest

from benchmarks.simulate.faults import Faults, Weather
from benchmarks.simulate.faulty_store import Link, faulty
from benchmarks.simulate.process import Process
from benchmarks.simulate.trace import Trace
from benchmarks.simulate.virtual_loop import VirtualLoop
from utils.errors import StorageError


class Shelf:
    def __init__(self) -> None:
        self.values: list[int] = []

    async def put(self, value: int) -> int:
        self.values.append(value)
        return len(self.values)

    async def refuse(self) -> None:
        raise KeyError("refused")

    def size(self) -> int:
        return len(self.values)


def under(today: Weather, test: Callable[[Shelf, Shelf, Process, VirtualLoop], Awaitable[None]]) -> None:
    loop, process, shelf = VirtualLoop.of(1), Process("p"), Shelf()
    faults = Faults(today, random.Random(1), loop.time, Trace(loop.time))

    async def main() -> None:
        await process.spawn(
            _awaited(test(shelf, faulty(shelf, Link(process, faults, StorageError)), process, loop))
        )

    loop.run(main())


async def _awaited(work: Awaitable[None]) -> None:
    await work


def test_a_store_without_faults_answers():
    async def test(shelf: Shelf, seen: Shelf, process: Process, loop: VirtualLoop) -> None:
        assert await seen.put(7) == 1 == seen.size()
        with pytest.raises(KeyError, match="refused"):
            await seen.refuse()

    under(Weather(slow=0), test)


def test_a_failed_operation_is_not_done_and_a_lost_one_is():
    async def failing(shelf: Shelf, seen: Shelf, process: Process, loop: VirtualLoop) -> None:
        with pytest.raises(StorageError):
            await seen.put(7)
        assert shelf.values == []

    async def losing(shelf: Shelf, seen: Shelf, process: Process, loop: VirtualLoop) -> None:
        with pytest.raises(StorageError):
            await seen.put(7)
        assert shelf.values == [7]

    under(Weather(failing=1.0), failing)
    under(Weather(losing=1.0), losing)


def test_an_operation_whose_caller_was_cancelled_is_done():
    async def test(shelf: Shelf, seen: Shelf, process: Process, loop: VirtualLoop) -> None:
        call = asyncio.create_task(seen.put(7))
        await asyncio.sleep(0.001)
        call.cancel()
        await asyncio.sleep(10)
        assert shelf.values == [7]

    under(Weather(slow=1.0, longest=1.0), test)


def test_a_locked_store_keeps_its_callers_waiting_or_fails():
    async def waits(shelf: Shelf, seen: Shelf, process: Process, loop: VirtualLoop) -> None:
        await seen.put(7)
        assert 5 <= loop.time() < 6

    async def fails(shelf: Shelf, seen: Shelf, process: Process, loop: VirtualLoop) -> None:
        with pytest.raises(StorageError):
            await seen.put(7)

    locked = ((0.0, 5.0),)
    under(Weather(slow=0, locked=locked), waits)
    under(Weather(slow=0, locked=locked, locks_fail=True), fails)
