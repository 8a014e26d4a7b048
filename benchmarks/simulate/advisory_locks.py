"""Locks of a database: each is held by transactions or sessions, and ends with the process that holds it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from benchmarks.simulate.process import Process

LOOK_SECONDS = 0.02
"""Pause between two looks of one who waits."""

LONGEST_PAUSE = 30.0
"""Seconds after which a transaction is cut off whose process stands still."""


class Holder(Protocol):
    """Who holds locks."""

    @property
    def process(self) -> Process:
        """Its process."""

    @property
    def ended(self) -> bool:
        """Whether it is over."""


@dataclass(slots=True)
class _Hold:
    """One lock of one holder, and when the holder last did something."""

    holder: Holder
    number: int
    shared: bool


class AdvisoryLocks:
    """The locks of a database.

    Args:
        clock: Seconds.
        longest_pause: Seconds after which one is cut off whose process stands still; `None` for sessions, which may do so.
    """

    def __init__(self, clock: Callable[[], float], longest_pause: float | None = LONGEST_PAUSE) -> None:
        self._clock = clock
        self._longest_pause = longest_pause
        self._holds: list[_Hold] = []
        self._still_since: dict[int, float] = {}
        self._cut: list[Holder] = []

    def take(self, holder: Holder, number: int, *, shared: bool) -> bool:
        """Take a lock where it is free, or shared with others that share it."""
        self._drop_lost()
        others = [each for each in self._holds if each.number == number and each.holder is not holder]
        if holder.ended or any(not (shared and each.shared) for each in others):
            return False
        self._holds.append(_Hold(holder, number, shared))
        return True

    async def wait(self, holder: Holder, number: int, *, shared: bool) -> None:
        """Take a lock as soon as it is to be had; never for one that has ended meanwhile."""
        while not (holder.ended or holder.process.dead or self.take(holder, number, shared=shared)):  # noqa: ASYNC110 - as a database does
            await asyncio.sleep(LOOK_SECONDS)

    def release(self, holder: Holder, number: int | None = None) -> None:
        """Give up a lock, or all."""
        self._holds = [
            each
            for each in self._holds
            if each.holder is not holder or (number is not None and each.number != number)
        ]

    def cut_off(self, holder: Holder) -> bool:
        """Whether its locks were taken away because its process stood still."""
        return holder in self._cut

    def _drop_lost(self) -> None:
        """Take the locks of dead processes away, and of those that stand still for too long."""
        now = self._clock()
        for hold in self._holds:
            process = hold.holder.process
            if not process.stalled:
                self._still_since.pop(id(process), None)
            elif self._longest_pause is not None:
                since = self._still_since.setdefault(id(process), now)
                if now - since > self._longest_pause:
                    self._cut.append(hold.holder)
        self._holds = [
            each
            for each in self._holds
            if not (each.holder.process.dead or each.holder.ended or each.holder in self._cut)
        ]
