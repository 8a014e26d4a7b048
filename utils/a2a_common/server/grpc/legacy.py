"""gRPC of protocol 0.3, with messages checked before they are converted to those of 1.0, and files as the client writes them."""

from __future__ import annotations

from collections.abc import AsyncIterator

import grpc.aio
from a2a.compat.v0_3 import a2a_v0_3_pb2 as pb
from a2a.compat.v0_3.grpc_handler import CompatGrpcHandler
from a2a.utils.errors import InvalidParamsError

from utils.a2a_common.handler.message_rules import MAX_PARTS
from utils.a2a_common.protocol.json_values import MAX_VALUES, complaint_about
from utils.a2a_common.server.grpc.refusals import RefusalStatus
from utils.a2a_common.server.legacy.chunks import WholeAtEnd
from utils.a2a_common.server.legacy.files import FileForm


class LegacyGrpc(RefusalStatus, CompatGrpcHandler):
    """Refuses what would take seconds of the event loop to convert, only to be refused then."""

    async def SendMessage(  # noqa: N802 - the name of the method in the protocol
        self, request: pb.SendMessageRequest, context: grpc.aio.ServicerContext
    ) -> pb.SendMessageResponse:
        """SendMessage of 0.3."""
        form = await self._read(request, context)
        return form.written(await super().SendMessage(request, context))

    async def SendStreamingMessage(  # noqa: N802 - as above
        self, request: pb.SendMessageRequest, context: grpc.aio.ServicerContext
    ) -> AsyncIterator[pb.StreamResponse]:
        """SendStreamingMessage of 0.3."""
        form, chunks = await self._read(request, context), WholeAtEnd()
        async for event in super().SendStreamingMessage(request, context):
            yield chunks.outgoing(form.written(event))

    async def TaskSubscription(  # noqa: N802 - as above
        self, request: pb.TaskSubscriptionRequest, context: grpc.aio.ServicerContext
    ) -> AsyncIterator[pb.StreamResponse]:
        """TaskSubscription of 0.3."""
        form, chunks = _form(context), WholeAtEnd()
        async for event in super().TaskSubscription(request, context):
            yield chunks.outgoing(form.written(event))

    async def GetTask(self, request: pb.GetTaskRequest, context: grpc.aio.ServicerContext) -> pb.Task:  # noqa: N802 - as above
        """GetTask of 0.3."""
        return _form(context).written(await super().GetTask(request, context))

    async def CancelTask(  # noqa: N802 - as above
        self, request: pb.CancelTaskRequest, context: grpc.aio.ServicerContext
    ) -> pb.Task:
        """CancelTask of 0.3."""
        return _form(context).written(await super().CancelTask(request, context))

    async def _read(self, request: pb.SendMessageRequest, context: grpc.aio.ServicerContext) -> FileForm:
        """Make a request ready to be converted, or end the call; return how it writes files."""
        complaint = _complaint(request)
        if complaint is not None:
            await self.abort_context(InvalidParamsError(f"The request {complaint}."), context)
        form = _form(context).of_message(request.request)
        form.read(request.request)
        return form


def _form(context: grpc.aio.ServicerContext) -> FileForm:
    sent = {str(key).lower(): value for key, value in context.invocation_metadata() or ()}
    return FileForm.of(str(sent.get("user-agent", "")))


def _complaint(request: pb.SendMessageRequest) -> str | None:
    if len(request.request.content) > MAX_PARTS:
        return f"has more than {MAX_PARTS} parts"
    return complaint_about(request, most=MAX_VALUES)
