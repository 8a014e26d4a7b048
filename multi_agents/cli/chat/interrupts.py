"""Ctrl-C during a turn: the first asks the agent to stop, the second stops waiting for it."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Interrupts:
    """Set one after the other, as often as the person pressed Ctrl-C."""

    first: asyncio.Event = field(default_factory=asyncio.Event)
    second: asyncio.Event = field(default_factory=asyncio.Event)

    def press(self) -> None:
        """Take in one Ctrl-C."""
        (self.second if self.first.is_set() else self.first).set()


@contextmanager
def watch_interrupts() -> Iterator[Interrupts]:
    """SIGINT sets the events instead of ending the process, as long as the block runs."""
    interrupts, loop = Interrupts(), asyncio.get_running_loop()
    before = signal.getsignal(signal.SIGINT)
    loop.add_signal_handler(signal.SIGINT, interrupts.press)
    try:
        yield interrupts
    finally:
        loop.remove_signal_handler(signal.SIGINT)
        signal.signal(signal.SIGINT, before)
