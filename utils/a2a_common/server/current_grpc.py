"""gRPC of protocol 1.0."""

from __future__ import annotations

from a2a.server.request_handlers import GrpcHandler

from utils.a2a_common.server.grpc_refusals import RefusalStatus


class CurrentGrpc(RefusalStatus, GrpcHandler):
    """The SDK's servicer, with a status for turns that are refused for now."""
