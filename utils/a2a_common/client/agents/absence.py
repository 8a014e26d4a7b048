"""How long an agent has been gone, and whether it may be expected back: a restart takes seconds."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from utils.timing import wait_for


class Absence:
    """One agent's absence. It begins with this process, where an earlier one knew the agent, or with the look that missed it.

    Args:
        seconds: How long an agent that is gone may be expected back.
        clock: A monotonic clock, in seconds.
    """

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._clock = clock
        self._since: float | None = clock()
        self._over = asyncio.Event()

    @property
    def left(self) -> float:
        """Seconds within which it may be expected back; all of them while it is there, since it may go at any time."""
        gone = 0.0 if self._since is None else self._clock() - self._since
        return max(0.0, self._seconds - gone)

    def note(self, *, there: bool) -> None:
        """The result of a look at the agent."""
        if there:
            self._since = None
            self._over.set()
        elif self._since is None:
            self._since = self._clock()
            self._over.clear()

    async def over(self, seconds: float) -> None:
        """Wait until the agent is reachable, for `seconds` at most."""
        await wait_for(self._over, seconds)
