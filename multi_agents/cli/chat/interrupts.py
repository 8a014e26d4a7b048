"""Ctrl-C during a turn: the first asks the agent to stop, the second stops waiting for it."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

from multi_agents.cli.errors import Stopped

T = TypeVar("T")

NO_ANSWER = "Stopped: the agent had not answered."

MAYBE_DONE = "Stopped: the agent had not answered. It may have done it all the same."


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


async def unless_pressed(
    interrupts: Interrupts, work: Coroutine[Any, Any, T], sentence: str = NO_ANSWER
) -> T:
    """What the work gives; a Ctrl-C ends it.

    Args:
        interrupts: The Ctrl-C of this command.
        work: Asks an agent for something.
        sentence: What is said where the Ctrl-C came first.

    Raises:
        Stopped: It did.
    """
    working = asyncio.create_task(work)
    pressed = asyncio.create_task(interrupts.first.wait())
    try:
        await asyncio.wait({working, pressed}, return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return working.result()
        raise Stopped(sentence)
    finally:
        for task in (working, pressed):
            task.cancel()
        await asyncio.gather(working, pressed, return_exceptions=True)
