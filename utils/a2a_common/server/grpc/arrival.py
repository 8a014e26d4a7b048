"""Ends a gRPC call whose message does not arrive.

gRPC waits for it without a limit, before any code of this service is called, while the call counts against the limit of calls of the
server: some connections with calls without a message would keep all other callers out. So each method is served as if it took a stream
of messages, which looks the same to clients, and the first message is taken here.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from typing import Any

import grpc
import grpc.aio
from google.protobuf.message import DecodeError

TOO_LATE = "The message of the call did not arrive in time."
NOT_READABLE = "The call has no message that this method reads."


class TimelyMessages(grpc.aio.ServerInterceptor):  # type: ignore[misc]
    """Waits for the message of each call, up to a time-out.

    Args:
        seconds: The longest wait.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    async def intercept_service(
        self, continuation: Callable[[Any], Awaitable[Any]], handler_call_details: Any
    ) -> Any:
        """The handler of a call, behind the wait for its message."""
        handler = await continuation(handler_call_details)
        if handler is None or handler.request_streaming:
            return handler
        streams = handler.response_streaming
        made = grpc.stream_stream_rpc_method_handler if streams else grpc.stream_unary_rpc_method_handler
        inner = handler.unary_stream if streams else handler.unary_unary
        return made(self._behind(inner), handler.request_deserializer, handler.response_serializer)

    def _behind(self, inner: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        async def call(messages: AsyncIterator[Any], context: grpc.aio.ServicerContext) -> Any:
            return await inner(await self._first(messages, context), context)

        return call

    async def _first(self, messages: AsyncIterator[Any], context: grpc.aio.ServicerContext) -> Any:
        """The message; without one, the call ends."""
        try:
            with suppress(DecodeError):
                async with asyncio.timeout(self._seconds):
                    async for message in messages:
                        return message
        except TimeoutError:
            await context.abort(grpc.StatusCode.DEADLINE_EXCEEDED, TOO_LATE)
        return await context.abort(grpc.StatusCode.INVALID_ARGUMENT, NOT_READABLE)
