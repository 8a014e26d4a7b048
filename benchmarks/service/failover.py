"""A client's way to several replicas: what breaks or is told to come again goes to the next one."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Any

import httpx

from benchmarks.service.doors import ComeAgain, Door


class Failover:
    """The same binding of several replicas, of which one is used until it fails.

    Args:
        doors: One for each replica.
        first: The replica to begin with.
    """

    def __init__(self, doors: Sequence[Door], first: int = 0) -> None:
        self._doors = doors
        self._at = first % len(doors)

    async def events(self, method: str, params: Any) -> AsyncGenerator[Any, None]:
        """See `Door`."""
        try:
            async with aclosing(self._doors[self._at].events(method, params)) as answers:
                async for answer in answers:
                    yield answer
        except (httpx.TransportError, ComeAgain):
            self._at = (self._at + 1) % len(self._doors)
            raise
