"""A test that hangs tells where."""

from __future__ import annotations

import asyncio

from tests.waiting import waits


async def the_innermost(event: asyncio.Event) -> None:
    await event.wait()


async def the_outermost(event: asyncio.Event) -> None:
    await the_innermost(event)


async def test_of_each_task_that_waits_the_whole_way_to_what_it_waits_for_is_told() -> None:
    event = asyncio.Event()
    async with asyncio.TaskGroup() as group:
        group.create_task(the_outermost(event), name="stuck")
        group.create_task(asyncio.sleep(0), name="quick")
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        (stuck,) = [line for line in waits() if line.startswith("stuck: ")]
        assert not [line for line in waits() if line.startswith("quick: ")]
        event.set()
    places = [place.split(" ")[0] for place in stuck.removeprefix("stuck: ").split(" > ")]
    assert places[:3] == ["the_outermost", "the_innermost", "Event.wait"]
