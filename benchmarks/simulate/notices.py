"""Notifications between processes, as a database sends them: after a while, and lost while a connection is broken."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncGenerator, Callable
from contextvars import Context
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchmarks.simulate.process import Process

LONGEST_BREAK = 3.0
"""Most seconds that a connection is broken."""


@dataclass(eq=False, slots=True)
class _Listener:
    """A connection that listens: its process, its channel, what it was sent, and whether it is broken."""

    process: Process
    channel: str
    sent: asyncio.Queue[str] = field(default_factory=asyncio.Queue)
    broken: bool = False


class Notices:
    """Who listens to what.

    Args:
        lots: Random numbers.
        faulty: Whether faults happen now.
        breaks: Share of the notifications at which a connection breaks.
    """

    def __init__(self, lots: random.Random, faulty: Callable[[], bool], breaks: float) -> None:
        self._lots = lots
        self._faulty = faulty
        self._breaks = breaks
        self._listeners: list[_Listener] = []

    def tell(self, channel: str, payload: str) -> None:
        """Send a notification to all who listen to a channel."""
        self._listeners = [each for each in self._listeners if not each.process.dead]
        for listener in self._listeners:
            if listener.channel != channel or listener.broken:
                continue
            if self._faulty() and self._lots.random() < self._breaks:
                self._break(listener)
            else:
                self._later(self._lots.uniform(0.0, 0.01), listener, payload)

    def _break(self, listener: _Listener) -> None:
        listener.broken = True

        def mended() -> None:
            listener.broken = False
            listener.sent.put_nowait("")

        seconds = self._lots.uniform(0.0, LONGEST_BREAK)
        asyncio.get_running_loop().call_later(seconds, mended, context=Context())

    def _later(self, seconds: float, listener: _Listener, payload: str) -> None:
        asyncio.get_running_loop().call_later(seconds, listener.sent.put_nowait, payload, context=Context())

    async def listen(self, process: Process, channel: str) -> AsyncGenerator[str, None]:
        """What is told on a channel from now, for ever; an empty text first and after each break."""
        listener = _Listener(process, channel)
        self._listeners.append(listener)
        try:
            yield ""
            while True:
                yield await listener.sent.get()
        finally:
            if listener in self._listeners:
                self._listeners.remove(listener)
