"""Cancellations of asyncio that are not lost.

`asyncio.wait_for` of Python 3.11 drops a cancellation that comes at the moment at which what it waits for is there, and
returns that as if nobody had canceled. psycopg's pool waits so for a connection.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable
from typing import Any, TypeVar

Result = TypeVar("Result")

AGAIN_SECONDS = 5.0
"""Time after which a task that has not ended is canceled once more."""


class Cancellation:
    """Tells, within the task that made it, whether that was canceled since."""

    def __init__(self) -> None:
        self._before = _asked()

    def check(self) -> None:
        """Go on, unless a cancellation was dropped.

        Raises:
            asyncio.CancelledError: The task was canceled, and goes on all the same.
        """
        if _asked() > self._before:
            raise asyncio.CancelledError


def _asked() -> int:
    """How often the running task was canceled, without what took its cancellation back, as `asyncio.timeout` does."""
    task = asyncio.current_task()
    return task.cancelling() if task is not None else 0


async def to_its_end(work: Coroutine[Any, Any, Result]) -> Result:
    """Await work that must not stop half way, such as giving back what others wait for. It has to bound itself.

    Raises:
        asyncio.CancelledError: Whoever waits was canceled meanwhile, and the work has ended since. An error of the work
            goes before that.
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
    """Cancel tasks that work in the background and wait until they have ended, whatever they ended with.

    Args:
        tasks: The tasks.
        again: Seconds after which those that have not ended are canceled once more.
    """
    left = set(tasks)
    while left:
        for task in left:
            task.cancel()
        ended, left = await asyncio.wait(left, timeout=again)
        # Or asyncio logs that nobody asked what they ended with.
        await asyncio.gather(*ended, return_exceptions=True)
