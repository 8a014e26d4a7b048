"""How many tries of push notifications are under way at once, so that webhooks that hang delay few others."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from weakref import WeakValueDictionary


@dataclass(frozen=True, slots=True)
class PushPlaces:
    """How many tries may be under way at once.

    Attributes:
        of_all: Over all webhooks.
        of_owner: Of the tasks of one caller. Callers without a name are one, so that it is half of all.
        of_host: Of one caller to one host and port: a receiver that is down hangs every webhook of it.
    """

    of_all: int = 64
    of_owner: int = 32
    of_host: int = 8


class PushSlots:
    """Lets a try begin. One that waits keeps no place that another caller could take.

    Args:
        places: How many there are.
    """

    def __init__(self, places: PushPlaces) -> None:
        self._places = places
        self._all = asyncio.Semaphore(places.of_all)
        self._each: WeakValueDictionary[tuple[str, str], asyncio.Semaphore] = WeakValueDictionary()

    @asynccontextmanager
    async def taken(self, owner: str, host: str) -> AsyncIterator[None]:
        """A place for a try, within the block."""
        of_host = self._slots(owner, host, self._places.of_host)
        of_owner = self._slots(owner, "", self._places.of_owner)
        async with of_host, of_owner, self._all:
            yield

    def _slots(self, owner: str, host: str, places: int) -> asyncio.Semaphore:
        found = self._each.get((owner, host))
        if found is None:
            found = self._each[owner, host] = asyncio.Semaphore(places)
        return found
