"""Ends a stream over gRPC whose client takes nothing of it.

HTTP/2 keeps such a stream from taking memory: of what its client has not asked for, one message waits here. But the stream would
hold its place among the calls of its caller and of the server for ever. A connection that takes nothing at all is ended by its
pings (`grpc_server`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from typing import Any

import grpc
import grpc.aio
import structlog

from utils.a2a_common.server.connections import WRITE_STALLED, SeldomTold

log = structlog.get_logger(__name__)

TOO_SLOW = "Nothing of this stream was taken for too long. Take up the task with SubscribeToTask, or read it with GetTask."

LEAST_PER_SECOND = 65_536
"""Bytes of a message that a client takes in a second at least: a large message has more time."""

_ends: set[asyncio.Task[None]] = set()
"""Statuses of ended streams, which wait behind what their clients have not read; over with the connection."""


class StalledStreams(grpc.aio.ServerInterceptor):  # type: ignore[misc]
    """Waits for each message of a stream until its client has taken it, or for so long.

    Args:
        seconds: The longest wait for a message of no size.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._told = SeldomTold()

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
            async with aclosing(inner(request, context)) as events:
                async for event in events:
                    allowed = asyncio.timeout(self._seconds + event.ByteSize() / LEAST_PER_SECOND)
                    try:
                        async with allowed:
                            await context.write(event)
                    except TimeoutError:
                        if not allowed.expired():
                            raise
                        break
                else:
                    return
            if self._told.count(WRITE_STALLED):
                unsent = event.ByteSize()
                log.warning("connection.cut_off", code=WRITE_STALLED, seconds=self._seconds, bytes=unsent)
            await _end(context)

        return call


async def _end(context: grpc.aio.ServicerContext) -> None:
    """End a call with a status, which is not waited for: it comes behind what the client has not read."""

    async def told() -> None:
        await context.abort(grpc.StatusCode.UNAVAILABLE, TOO_SLOW)

    end = asyncio.create_task(told())
    _ends.add(end)
    end.add_done_callback(_over)
    await asyncio.sleep(0)


def _over(end: asyncio.Task[None]) -> None:
    _ends.discard(end)
    if not end.cancelled():
        end.exception()  # an abort always raises
