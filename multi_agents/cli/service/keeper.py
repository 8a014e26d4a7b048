"""Starts a process of the service again when it ends by itself, a little later each time, and says so."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager

from multi_agents.cli.console import one_line
from multi_agents.cli.errors import ServiceUnreachable
from multi_agents.cli.service.child import Child
from multi_agents.cli.service.ready import how_it_ended
from multi_agents.cli.service.service import Service
from utils.errors import StorageError
from utils.processes.details import kept_details

PAUSES = (1.0, 2.0, 4.0, 8.0, 16.0)
"""Seconds before each new start in a row; after the last one the process stays down."""

REASON_LENGTH = 200
"""Characters that are shown of why a process ended."""

STEADY_SECONDS = 60.0
"""A process that lived so long did not end because of its start: the next pause is the first one again."""

UNKEPT = "{error} was not expected here. {where} {name} is not started again any more if it ends."

Tell = Callable[[str], Awaitable[None]]


@asynccontextmanager
async def kept_up(
    service: Service, tell: Tell, *, pauses: Sequence[float] = PAUSES, steady: float = STEADY_SECONDS
) -> AsyncIterator[asyncio.Future[Child]]:
    """For the length of the block each process that ends is started again.

    Gives the first one that stays down; the future fails with a `ServiceUnreachable` where one is not kept up any more because of an unexpected error.

    Args:
        service: The service of this process.
        tell: Shows the person a line.
        pauses: Seconds before each start in a row.
        steady: Seconds of life after which the count starts at zero again.
    """

    async def tell_all(text: str) -> None:
        await tell(text)
        service.publish(text)

    first: asyncio.Future[Child] = asyncio.get_running_loop().create_future()

    async def keep(child: Child) -> None:
        name = child.planned.name
        try:
            down = await _keep(service, child, tell_all, pauses, steady)
        except Exception as error:
            why = UNKEPT.format(name=name, error=type(error).__name__, where=kept_details(error))
            if not first.done():
                first.set_exception(ServiceUnreachable(why))
            await tell_all(why)
            raise
        if not first.done():
            first.set_result(down)

    keeping = [asyncio.create_task(keep(child)) for child in service.children]
    try:
        yield first
    finally:
        for task in keeping:
            task.cancel()
        await asyncio.gather(*keeping, return_exceptions=True)
        if first.done():
            first.exception()  # a chat goes on without a look at it


async def _keep(service: Service, child: Child, tell: Tell, pauses: Sequence[float], steady: float) -> Child:
    """Start the process again each time that it ends, until it stays down: then the one that ended last."""
    clock = asyncio.get_running_loop().time
    tries = 0
    while True:
        began = clock()
        await child.process.wait()
        if clock() - began > steady:
            tries = 0
        name, how = child.planned.name, how_it_ended(child)
        if tries == len(pauses):
            rest = f"{_said_last(child)} Its log: {child.log}"
            await tell(f"{name} {how}; after {tries} new starts in a row it stays down.{rest}")
            return child
        await tell(f"{name} {how}; it is started again.{_said_last(child)}")
        await asyncio.sleep(pauses[tries])
        tries += 1
        try:
            child = await service.start_again(child)
        except (OSError, StorageError):
            await tell(f"{name} could not be started again and stays down.")
            return child


def _said_last(child: Child) -> str:
    """The last line of the log of a process that ended by its own doing: its reason, which the next start moves away.

    A process that was killed had no time for a reason.
    """
    lines = child.last_lines() if (child.process.returncode or 0) > 0 else []
    return f" The last line of its log: {one_line(lines[-1], REASON_LENGTH)}" if lines else ""
