"""Emits heartbeat progress while a remote agent is silent."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

from utils.events import DelegationFinished, DelegationProgress, DelegationStarted

Report = Callable[[DelegationStarted | DelegationProgress | DelegationFinished], None]


@asynccontextmanager
async def heartbeat(
    report: Report, waited: Callable[[float], DelegationProgress], every: float
) -> AsyncIterator[Report]:
    """Yield a `report` that speaks up by itself whenever nothing was reported for `every` seconds.

    Args:
        report: Called with everything.
        waited: Makes the event for the seconds since the beginning.
        every: Seconds of silence.
    """
    began = last = time.monotonic()

    def noted(event: DelegationStarted | DelegationProgress | DelegationFinished) -> None:
        nonlocal last
        last = time.monotonic()
        report(event)

    async def speak() -> None:
        while True:
            if (left := last + every - time.monotonic()) > 0:
                await asyncio.sleep(left)
            else:
                noted(waited(time.monotonic() - began))

    speaking = asyncio.create_task(speak())
    try:
        yield noted
    finally:
        speaking.cancel()
        with suppress(asyncio.CancelledError):
            await speaking
