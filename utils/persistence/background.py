"""Ends tasks that run in the background."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any

AGAIN_SECONDS = 5.0
"""Time after which a task that has not ended is canceled once more."""


async def end_tasks(tasks: Iterable[asyncio.Task[Any]], *, again: float = AGAIN_SECONDS) -> None:
    """Cancel tasks and wait until they have ended.

    One cancellation may be lost: `asyncio.wait_for` of Python 3.11, with which psycopg waits for notifications, drops it where
    what it waits for comes at the same moment.

    Args:
        tasks: The tasks.
        again: Seconds after which those that have not ended are canceled once more.
    """
    left = set(tasks)
    while left:
        for task in left:
            task.cancel()
        _, left = await asyncio.wait(left, timeout=again)
