"""Ends a gRPC call with a status that the SDK does not know: refused for now, or for want of credentials."""

from __future__ import annotations

from typing import TYPE_CHECKING

from a2a.utils.errors import A2AError

from utils.a2a_common.protocol.credentials_required import CredentialsRequired
from utils.a2a_common.protocol.forbidden import Forbidden
from utils.a2a_common.protocol.retry_later import (
    OverloadedError,
    PerhapsTakenError,
    RetryLaterError,
    TooManyRequestsError,
)

if TYPE_CHECKING:
    import grpc.aio

RETRY_AFTER = "retry-after"
"""Trailing metadata: whole seconds to wait, as the HTTP header of this name."""


class RefusalStatus:
    """Mixed into the SDK's gRPC servicers, which know no status for these errors."""

    async def abort_context(self, error: A2AError, context: grpc.aio.ServicerContext) -> None:
        """End a call with an error."""
        if isinstance(error, RetryLaterError):
            import grpc

            code = grpc.StatusCode.UNAVAILABLE
            if isinstance(error, OverloadedError | TooManyRequestsError):
                code = grpc.StatusCode.RESOURCE_EXHAUSTED
            context.set_trailing_metadata(((RETRY_AFTER, str(error.retry_after)),))
            await context.abort(code, error.message)
        if isinstance(error, PerhapsTakenError):
            import grpc

            await context.abort(grpc.StatusCode.DEADLINE_EXCEEDED, error.message)
        if isinstance(error, Forbidden):
            import grpc

            await context.abort(grpc.StatusCode.PERMISSION_DENIED, error.message)
        if isinstance(error, CredentialsRequired):
            import grpc

            await context.abort(grpc.StatusCode.UNAUTHENTICATED, error.message)
        await super().abort_context(error, context)  # type: ignore[misc]
