"""The same agent over gRPC, protocol 1.0 and 0.3 on one port."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from a2a.server.context import ServerCallContext
from a2a.server.request_handlers import RequestHandler
from a2a.server.request_handlers.grpc_handler import DefaultGrpcServerCallContextBuilder

from utils.a2a_common.call_context import VERSION_HEADER, check_extensions, served_version

if TYPE_CHECKING:
    import grpc.aio


class GrpcCallContextBuilder(DefaultGrpcServerCallContextBuilder):
    """Checks version and extensions of a gRPC call, which the SDK does for HTTP only."""

    def __init__(self, required: frozenset[str]) -> None:
        self._required = required

    def build(self, context: grpc.aio.ServicerContext) -> ServerCallContext:
        """The context of a gRPC call.

        Raises:
            VersionNotSupportedError: The version asked for is not served.
            ExtensionSupportRequiredError: A required extension is not declared.
        """
        built = super().build(context)
        pairs = context.invocation_metadata() or ()
        sent = {str(key).lower(): value for key, value in pairs}
        asked = sent.get(VERSION_HEADER.lower(), "")
        served_version(asked if isinstance(asked, str) else asked.decode("ascii", "replace"))
        check_extensions(built.requested_extensions, self._required)
        return built


async def start_grpc(
    handler: RequestHandler, *, host: str, port: int, required: frozenset[str], max_body_bytes: int
) -> tuple[grpc.aio.Server, int]:
    """Start a gRPC server.

    Args:
        handler: Answers the calls.
        host: Address to listen on.
        port: Port, or 0 for a free one.
        required: Extensions that a caller must declare.
        max_body_bytes: Largest message that is received.

    Returns:
        The running server and its port.
    """
    import grpc.aio
    from a2a.compat.v0_3 import a2a_v0_3_pb2_grpc
    from a2a.compat.v0_3.grpc_handler import CompatGrpcHandler
    from a2a.server.request_handlers import GrpcHandler
    from a2a.types import a2a_pb2_grpc

    server = grpc.aio.server(options=[("grpc.max_receive_message_length", max_body_bytes)])
    builder = GrpcCallContextBuilder(required)
    served: list[tuple[Any, object]] = [
        (a2a_pb2_grpc, GrpcHandler(handler, builder)),
        (a2a_v0_3_pb2_grpc, CompatGrpcHandler(handler, builder)),
    ]
    for generated, servicer in served:
        generated.add_A2AServiceServicer_to_server(servicer, server)
    bound = server.add_insecure_port(f"{host}:{port}")
    await server.start()
    return server, bound
