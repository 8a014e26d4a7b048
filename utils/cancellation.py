"""Keeps cancellations of asyncio from being lost.

`asyncio.wait_for` of Python 3.11 drops a cancellation that arrives together with the awaited result, and returns the result.
psycopg's pool waits for connections that way.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable
from typing import Any, TypeVar

Result = TypeVar("Result")

AGAIN_SECONDS = 5.0
"""Time after which a task that has not ended is canceled again."""


class Cancellation:
    """Detects, within the task that created it, whether the task was canceled since."""

    def __init__(self) -> None:
        self._before = _cancellations()

    def check(self) -> None:
        """Raise a cancellation that was dropped.

        Raises:
            asyncio.CancelledError: The task was canceled, and still runs.
        """
        if _cancellations() > self._before:
            raise asyncio.CancelledError


def _cancellations() -> int:
    """How often the running task was canceled, without cancellations that were revoked, as `asyncio.timeout` does."""
    task = asyncio.current_task()
    return task.cancelling() if task is not None else 0


async def to_its_end(work: Coroutine[Any, Any, Result]) -> Result:
    """Await work that must not be interrupted, such as releasing a resource. The work has to limit its own duration.

    Raises:
        asyncio.CancelledError: The caller was canceled meanwhile, and the work has ended since. An error of the work
            takes precedence.
    """
    task = asyncio.ensure_future(work)
    canceled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError as error:
            canceled = error
    result = task.result()
    if canceled is not None:
        raise canceled
    return result


async def end_tasks(tasks: Iterable[asyncio.Task[Any]], *, again: float = AGAIN_SECONDS) -> None:
    """Cancel background tasks and wait until they have ended, whatever their result.

    Args:
        tasks: The tasks.
        again: Seconds after which those that have not ended are canceled again.
    """
    left = set(tasks)
    while left:
        for task in left:
            task.cancel()
        ended, left = await asyncio.wait(left, timeout=again)
        # else asyncio logs that their exceptions were never retrieved
        await asyncio.gather(*ended, return_exceptions=True)
