"""A client's way to a process: calls that break when the process is lost, and streams that the client may leave."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, TypeVar

from a2a.server.events.event_queue import Event

from benchmarks.simulate.view import Seen, seen_of

if TYPE_CHECKING:
    from benchmarks.simulate.service_world import Node

T = TypeVar("T")

Source = Callable[[], AsyncGenerator[Event, None]]
"""A streaming operation of a handler, with its request."""

BUFFER = 2
"""Events on the way between server and client, before a slow client slows the server's stream down."""


class ConnectionLost(Exception):
    """The process died, or stands still and nobody listens to it any more."""


async def call(node: Node, work: Callable[[], Awaitable[T]]) -> T:
    """Make a request.

    Raises:
        ConnectionLost: The process was lost before it answered.
    """
    served = node.process.spawn(_awaited(work))
    await _first(node, served)
    if served.done():
        return served.result()
    served.add_done_callback(_unheard)
    raise ConnectionLost


def _unheard(served: asyncio.Future[Any]) -> None:
    """Its client is gone: nobody hears of its error."""
    if not served.cancelled():
        served.exception()


async def stream(node: Node, source: Source) -> AsyncGenerator[tuple[Event, Seen], None]:
    """Read a stream; leaving it cancels its request at the server.

    Raises:
        ConnectionLost: The process was lost before the stream ended.
    """
    events: asyncio.Queue[Event] = asyncio.Queue(BUFFER)
    served = node.process.spawn(_serve(source, events))
    try:
        while True:
            get = asyncio.ensure_future(events.get())
            await _first(node, get, served)
            if get.done():
                yield get.result(), seen_of(get.result())
                continue
            get.cancel()
            if not served.done():
                raise ConnectionLost
            if events.empty():
                served.result()
                return
    finally:
        if not node.process.dead:
            served.cancel()
        served.add_done_callback(_unheard)


async def _serve(source: Source, events: asyncio.Queue[Event]) -> None:
    async with aclosing(source()) as served:
        async for event in served:
            await events.put(event)


async def _first(node: Node, *work: asyncio.Future[Any]) -> None:
    """Wait until one of them is done or the process is lost."""
    gone = asyncio.create_task(node.lost.wait())
    await asyncio.wait([*work, gone], return_when=asyncio.FIRST_COMPLETED)
    gone.cancel()


async def _awaited(work: Callable[[], Awaitable[T]]) -> T:
    return await work()
