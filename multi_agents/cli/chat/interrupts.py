"""Ctrl-C during a turn: the first asks the agent to stop, the second stops waiting for it."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterator
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


class InterruptWatch:
    """Gives each Ctrl-C of a chat to the turn that runs or is about to begin, so that none ends the process."""

    def __init__(self) -> None:
        self.current = Interrupts()
        self._taken_by: Callable[[], bool] | None = None

    def begin(self) -> Interrupts:
        """Forget the keys pressed so far; later ones belong to the next turn."""
        self.current = Interrupts()
        return self.current

    @contextmanager
    def offered_to(self, take: Callable[[], bool]) -> Iterator[None]:
        """For the length of the block `take` may take a Ctrl-C, by returning true; else it belongs to the next turn."""
        self._taken_by = take
        try:
            yield
        finally:
            self._taken_by = None

    def press(self) -> None:
        """Take in one Ctrl-C."""
        if self._taken_by is None or not self._taken_by():
            self.current.press()


@contextmanager
def watch_interrupts() -> Iterator[Interrupts]:
    """SIGINT sets the events of one turn instead of ending the process, as long as the block runs."""
    interrupts = Interrupts()
    with _on_sigint(interrupts.press):
        yield interrupts


@contextmanager
def watch_chat() -> Iterator[InterruptWatch]:
    """SIGINT goes to the turns of a chat instead of ending the process, as long as the block runs."""
    watch = InterruptWatch()
    with _on_sigint(watch.press):
        yield watch


@contextmanager
def _on_sigint(press: Callable[[], None]) -> Iterator[None]:
    loop = asyncio.get_running_loop()
    before = signal.getsignal(signal.SIGINT)
    loop.add_signal_handler(signal.SIGINT, press)
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGINT)
        signal.signal(signal.SIGINT, before)
