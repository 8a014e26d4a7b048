"""Deadlines, exponential backoff between attempts, and waits with a time limit."""

from __future__ import annotations

import asyncio
import random
import time
from contextlib import suppress
from dataclasses import dataclass

_MOST_DOUBLINGS = 30  # the number of attempts has no limit while a server is down

LONGEST_WAIT = 30.0
"""Longest wait between two attempts in seconds, unless the server asks for more."""


@dataclass(frozen=True, slots=True)
class Deadline:
    """A point in time on the monotonic clock of this process; `None` is never.

    Attributes:
        at: The value of `time.monotonic()` at which time is up.
    """

    at: float | None = None

    @classmethod
    def after(cls, seconds: float | None) -> Deadline:
        """The deadline `seconds` from now; never for `None`."""
        return cls(None if seconds is None else time.monotonic() + seconds)

    @property
    def left(self) -> float:
        """Seconds left, at least 0; infinite for never."""
        return float("inf") if self.at is None else max(0.0, self.at - time.monotonic())

    def allows(self, seconds: float) -> bool:
        """Whether `seconds` end before the deadline."""
        return seconds < self.left


def backoff(attempt: int, *, first: float = 1.0, longest: float = LONGEST_WAIT) -> float:
    """Seconds to wait before the next attempt: doubles each time, with jitter so that clients do not retry in step.

    Args:
        attempt: Number of the attempt that failed, from 1.
        first: Seconds after the first attempt.
        longest: Upper limit in seconds.
    """
    full: float = min(longest, first * 2 ** min(attempt - 1, _MOST_DOUBLINGS))
    return full * random.uniform(0.5, 1.0)  # noqa: S311 - jitter, not a secret


async def wait_for(event: asyncio.Event, seconds: float) -> bool:
    """Wait until an event is set, for at most `seconds`; returns whether it is.

    `asyncio.wait_for` of Python 3.11 loses a cancellation that arrives with the event.
    """
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()
    return event.is_set()
