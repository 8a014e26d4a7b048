"""Lists the active ones of the requested extensions in the metadata of each gRPC response."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import grpc
import grpc.aio
from a2a.types.a2a_pb2 import AgentCard

from utils.a2a_common.server.call_context import EXTENSION_HEADERS, active_extensions

Named = tuple[tuple[str, str], ...]


class ExtensionsInterceptor(grpc.aio.ServerInterceptor):  # type: ignore[misc]
    """Sends `a2a-extensions` as metadata before an answer if the request had it, like the HTTP header of this name.

    Args:
        card: What the agent offers.
    """

    def __init__(self, card: AgentCard) -> None:
        self._card = card

    async def intercept_service(
        self, continuation: Callable[[Any], Awaitable[Any]], handler_call_details: Any
    ) -> Any:
        """The handler of a call, behind the metadata of its answer."""
        handler = await continuation(handler_call_details)
        named = self._named(handler_call_details.invocation_metadata or ())
        if handler is None or not named:
            return handler
        if handler.unary_stream is not None:
            return grpc.unary_stream_rpc_method_handler(
                _streaming(handler.unary_stream, named),
                handler.request_deserializer,
                handler.response_serializer,
            )
        return grpc.unary_unary_rpc_method_handler(
            _unary(handler.unary_unary, named), handler.request_deserializer, handler.response_serializer
        )

    def _named(self, sent: Any) -> Named:
        requested = {
            name.lower(): [value for key, value in sent if key == name.lower() and isinstance(value, str)]
            for name in EXTENSION_HEADERS
        }
        named = {name: active_extensions(values, self._card) for name, values in requested.items()}
        return tuple((name, active) for name, active in named.items() if active)


def _unary(inner: Callable[..., Any], named: Named) -> Callable[..., Any]:
    async def call(request: Any, context: grpc.aio.ServicerContext) -> Any:
        await context.send_initial_metadata(named)
        return await inner(request, context)

    return call


def _streaming(inner: Callable[..., Any], named: Named) -> Callable[..., Any]:
    async def call(request: Any, context: grpc.aio.ServicerContext) -> AsyncIterator[Any]:
        await context.send_initial_metadata(named)
        async for event in inner(request, context):
            yield event
            del event

    return call
