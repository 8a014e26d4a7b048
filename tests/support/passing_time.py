"""Time that passes when a test says so: a limit can be longer than any machine stalls, and is over at once all the same."""

from __future__ import annotations

import asyncio


def pass_seconds(seconds: float) -> None:
    """Set the clock of the running event loop ahead: whatever waits on it for no longer than that is due now."""
    loop = asyncio.get_running_loop()
    clock = loop.time
    loop.time = lambda: clock() + seconds  # type: ignore[method-assign]


async def passed(seconds: float) -> None:
    """The same, and whatever was due until then has begun."""
    pass_seconds(seconds)
    for _ in range(2):  # the loop looks at its timers after what is ready
        await asyncio.sleep(0)
