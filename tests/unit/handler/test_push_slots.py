"""Webhooks that hang keep the places of their own host and caller, and leave those of others free."""

from __future__ import annotations

import asyncio
import gc
from contextlib import AsyncExitStack
from typing import Self

from utils.a2a_common.server.push.slots import PushPlaces, PushSlots

ROUNDS = 20
"""Steps of the loop after which everything that can go on has."""


class Hanging:
    """Tries that end with the block."""

    def __init__(self, places: PushPlaces) -> None:
        self.slots = PushSlots(places)
        self.begun: list[tuple[str, str]] = []
        self.end = asyncio.Event()
        self.tries: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.end.set()
        await asyncio.gather(*self.tries)
        self.tries.clear()
        gc.collect()
        assert not self.slots._each, "nothing is kept of hosts and callers without a try"

    async def hang(self, owner: str, host: str, times: int) -> int:
        """Begin tries, and tell how many got a place."""
        before = len(self.begun)
        for _ in range(times):
            self.tries.add(asyncio.create_task(self._try(owner, host)))
        for _ in range(ROUNDS):
            await asyncio.sleep(0)
        return len(self.begun) - before

    async def _try(self, owner: str, host: str) -> None:
        async with self.slots.taken(owner, host):
            self.begun.append((owner, host))
            await self.end.wait()


async def test_a_host_that_hangs_leaves_places_for_the_other_hosts_of_its_caller() -> None:
    async with Hanging(PushPlaces(of_all=8, of_owner=4, of_host=2)) as hanging:
        assert await hanging.hang("ann", "down.example", 20) == 2
        assert await hanging.hang("ann", "up.example", 1) == 1


async def test_a_caller_whose_hosts_all_hang_leaves_places_for_another_one() -> None:
    async with Hanging(PushPlaces(of_all=8, of_owner=4, of_host=2)) as hanging:
        assert sum([await hanging.hang("ann", f"{each}.example", 5) for each in range(5)]) == 4
        assert await hanging.hang("bob", "up.example", 1) == 1


async def test_no_more_than_all_are_under_way() -> None:
    async with Hanging(PushPlaces(of_all=3, of_owner=4, of_host=2)) as hanging:
        assert await hanging.hang("ann", "a.example", 3) == 2
        assert await hanging.hang("bob", "b.example", 3) == 1


async def test_a_place_is_free_again_when_its_try_is_given_up() -> None:
    slots = PushSlots(PushPlaces(of_all=1))
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(slots.taken("ann", "a.example"))
        waiting = asyncio.create_task(slots.taken("bob", "b.example").__aenter__())
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
    async with slots.taken("bob", "b.example"):
        assert waiting.cancelled()


async def test_a_caller_that_waits_for_its_own_places_takes_none_of_a_host_from_another_one() -> None:
    async with Hanging(PushPlaces(of_all=8, of_owner=2, of_host=2)) as hanging:
        assert await hanging.hang("ann", "down.example", 2) == 2
        assert await hanging.hang("ann", "up.example", 5) == 0
        assert await hanging.hang("bob", "up.example", 1) == 1
