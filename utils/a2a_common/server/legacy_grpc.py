"""gRPC of protocol 0.3, with messages checked before they are converted to those of 1.0."""

from __future__ import annotations

import base64
import binascii
from collections.abc import AsyncIterator

import grpc.aio
from a2a.compat.v0_3 import a2a_v0_3_pb2 as pb
from a2a.compat.v0_3.grpc_handler import CompatGrpcHandler
from a2a.utils.errors import InvalidParamsError

from utils.a2a_common.handler.message_rules import MAX_PARTS
from utils.a2a_common.protocol.json_values import MAX_VALUES, complaint_about
from utils.a2a_common.server.grpc_refusals import RefusalStatus


class LegacyGrpc(RefusalStatus, CompatGrpcHandler):
    """Refuses what would take seconds of the event loop to convert, only to be refused then."""

    async def SendMessage(  # noqa: N802 - the name of the method in the protocol
        self, request: pb.SendMessageRequest, context: grpc.aio.ServicerContext
    ) -> pb.SendMessageResponse:
        """SendMessage of 0.3."""
        await self._check(request, context)
        answer: pb.SendMessageResponse = await super().SendMessage(request, context)
        return answer

    async def SendStreamingMessage(  # noqa: N802 - as above
        self, request: pb.SendMessageRequest, context: grpc.aio.ServicerContext
    ) -> AsyncIterator[pb.StreamResponse]:
        """SendStreamingMessage of 0.3."""
        await self._check(request, context)
        async for event in super().SendStreamingMessage(request, context):
            yield event

    async def _check(self, request: pb.SendMessageRequest, context: grpc.aio.ServicerContext) -> None:
        """End the call, unless its request can be converted."""
        complaint = _complaint(request)
        if complaint is not None:
            await self.abort_context(InvalidParamsError(f"The request {complaint}."), context)


def _complaint(request: pb.SendMessageRequest) -> str | None:
    if len(request.request.content) > MAX_PARTS:
        return f"has more than {MAX_PARTS} parts"
    if not all(_is_base64(part.file.file_with_bytes) for part in request.request.content):
        return "holds a file that is not base64"  # which the conversion takes its bytes for
    return complaint_about(request, most=MAX_VALUES)


def _is_base64(content: bytes) -> bool:
    try:
        base64.b64decode(content, validate=True)
    except binascii.Error:
        return False
    return True
