"""How long to wait before the next try. Pure."""

from __future__ import annotations

import random

LONGEST_WAIT = 30.0
"""Most seconds between two tries, unless the other side asks for more."""


def backoff(attempt: int, *, first: float = 1.0, longest: float = LONGEST_WAIT) -> float:
    """Seconds before try `attempt` + 1: doubled each time, with jitter, so that many do not come at once.

    Args:
        attempt: How many tries there were, from 1.
        first: Seconds after the first try.
        longest: Most seconds.
    """
    full: float = min(longest, first * 2 ** (attempt - 1))
    return full * random.uniform(0.5, 1.0)  # noqa: S311 - jitter, not a secret
