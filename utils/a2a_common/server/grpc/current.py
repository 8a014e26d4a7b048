"""gRPC of protocol 1.0."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from a2a.server.context import ServerCallContext
from a2a.server.events.event_queue import Event
from a2a.server.request_handlers import GrpcHandler, RequestHandler
from a2a.types import a2a_pb2 as pb
from a2a.utils.errors import A2AError
from a2a.utils.proto_utils import to_stream_response

from utils.a2a_common.server.grpc.refusals import RefusalStatus

if TYPE_CHECKING:
    import grpc.aio

    from utils.a2a_common.server.grpc.server import GrpcCallContextBuilder

Streaming = Callable[[Any, ServerCallContext], AsyncGenerator[Event, None]]


class CurrentGrpc(RefusalStatus, GrpcHandler):
    """The SDK's servicer, with a status for turns that are refused for now, and streams that release each event they have sent.

    The SDK's streams hold their last event until the next one comes, which is a complete task where a client has just subscribed.
    """

    def __init__(self, handler: RequestHandler, builder: GrpcCallContextBuilder) -> None:
        super().__init__(handler, builder)
        self._handler, self._builder = handler, builder

    def SendStreamingMessage(  # noqa: N802 - the name of the method in the protocol
        self, request: pb.SendMessageRequest, context: grpc.aio.ServicerContext
    ) -> AsyncGenerator[pb.StreamResponse, None]:
        """SendStreamingMessage."""
        return self._stream(self._handler.on_message_send_stream, request, context)

    def SubscribeToTask(  # noqa: N802 - as above
        self, request: pb.SubscribeToTaskRequest, context: grpc.aio.ServicerContext
    ) -> AsyncGenerator[pb.StreamResponse, None]:
        """SubscribeToTask."""
        return self._stream(self._handler.on_subscribe_to_task, request, context)

    async def _stream(
        self, operation: Streaming, request: Any, context: grpc.aio.ServicerContext
    ) -> AsyncGenerator[pb.StreamResponse, None]:
        try:
            call = self._builder.build(context)
            call.tenant = request.tenant
            async with aclosing(operation(request, call)) as events:
                async for event in events:
                    yield to_stream_response(event)
                    del event
        except A2AError as error:
            await self.abort_context(error, context)
