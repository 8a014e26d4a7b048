"""Background tasks end, also where a cancellation is lost."""

from __future__ import annotations

import asyncio

from utils.persistence.background import end_tasks


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


async def test_nothing_is_waited_for_where_there_are_no_tasks() -> None:
    await end_tasks([])
