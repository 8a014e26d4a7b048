"""Ends a gRPC stream whose client reads nothing of it, and bounds the messages that wait for one connection.

For each stream, one message that its client has not requested waits here; but it may be a complete task, and a connection may have
hundreds of streams. gRPC holds the message of an ended stream until the client takes it or disconnects. Otherwise the stream
would also count forever against the limits of calls of its caller and of the server. A connection that reads nothing at all is ended
by its pings (`server.py`).
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import ExitStack, aclosing
from typing import Any

import grpc
import grpc.aio
import structlog

from utils.a2a_common.server.http.connections import WRITE_STALLED, RefusalCounter

log = structlog.get_logger(__name__)

TOO_SLOW = "Nothing of this stream was taken for too long. Take up the task with SubscribeToTask, or read it with GetTask."

LEAST_PER_SECOND = 65_536
"""Bytes of a message that a client takes in a second at least: a large message has more time."""

MOST_UNTAKEN = 48 * 1024 * 1024
"""Bytes that wait for one connection, over all its streams: complete tasks of 16 clients behind a proxy that subscribe at once."""

TOO_MUCH = "Too much waits to be taken on this connection. Take that, and then take up the task with SubscribeToTask or read it with GetTask."

_ends: set[asyncio.Task[None]] = set()
"""Statuses of ended streams, which wait behind what their clients have not read, and end with the connection."""


class StalledStreams(grpc.aio.ServerInterceptor):  # type: ignore[misc]
    """Waits for each message of a stream until its client has taken it, up to a time-out.

    Args:
        seconds: The longest wait for a message of no size.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._refusals = RefusalCounter()
        self._untaken: Counter[str] = Counter()
        """Bytes by connection."""

    async def intercept_service(
        self, continuation: Callable[[Any], Awaitable[Any]], handler_call_details: Any
    ) -> Any:
        """The handler of a call; that of a stream writes its messages itself."""
        handler = await continuation(handler_call_details)
        if handler is None or handler.unary_stream is None:
            return handler
        return grpc.unary_stream_rpc_method_handler(
            self._written(handler.unary_stream), handler.request_deserializer, handler.response_serializer
        )

    def _written(self, inner: Callable[..., Any]) -> Callable[..., Any]:
        async def call(request: Any, context: grpc.aio.ServicerContext) -> None:
            why, unsent = "", 0
            async with aclosing(inner(request, context)) as events:
                async for event in events:
                    unsent = event.ByteSize()
                    if why := await self._write(event, unsent, context):
                        break
                    del event
            if not why:
                return
            if self._refusals.count(WRITE_STALLED):
                log.warning("connection.cut_off", code=WRITE_STALLED, seconds=self._seconds, bytes=unsent)
            await _end(context, why)

        return call

    async def _write(self, event: Any, size: int, context: grpc.aio.ServicerContext) -> str:
        """Write a message and wait until it is taken; why the stream ends, where it is not."""
        connection = context.peer()
        if size > LEAST_PER_SECOND and self._untaken[connection] + size > MOST_UNTAKEN:
            return TOO_MUCH
        self._untaken[connection] += size
        allowed = asyncio.timeout(self._seconds + size / LEAST_PER_SECOND)
        with ExitStack() as taken:
            taken.callback(self._release, connection, size)
            try:
                async with allowed:
                    await context.write(event)
            except TimeoutError:
                if not allowed.expired():
                    raise
                kept = taken.pop_all()  # gRPC holds the message until the call is over
                context.add_done_callback(lambda _context: kept.close())
                return TOO_SLOW
        return ""

    def _release(self, connection: str, size: int) -> None:
        self._untaken[connection] -= size
        if not self._untaken[connection]:
            del self._untaken[connection]


async def _end(context: grpc.aio.ServicerContext, why: str) -> None:
    """End a call with a status without waiting for it: it is queued behind data that the client has not read."""

    async def send_status() -> None:
        await context.abort(grpc.StatusCode.UNAVAILABLE, why)

    end = asyncio.create_task(send_status())
    _ends.add(end)
    end.add_done_callback(_over)
    await asyncio.sleep(0)


def _over(end: asyncio.Task[None]) -> None:
    _ends.discard(end)
    if not end.cancelled():
        end.exception()  # an abort always raises
