"""Refuses gRPC calls without valid credentials."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import grpc
import grpc.aio
import structlog

from utils.a2a_common.server.grpc.caller import set_caller
from utils.a2a_common.server.grpc.refusals import RETRY_AFTER
from utils.a2a_common.server.http.auth_gate import NOT_ALLOWED, UNCHECKED, UNKNOWN
from utils.auth.authenticator import Authenticator
from utils.auth.principal import Principal, Right
from utils.auth.refusal import CHECKED_AGAIN_SECONDS, AuthRefused

log = structlog.get_logger(__name__)


class AuthInterceptor(grpc.aio.ServerInterceptor):  # type: ignore[misc]
    """Ends a call with UNAUTHENTICATED, PERMISSION_DENIED or UNAVAILABLE before it is read."""

    def __init__(self, authenticator: Authenticator) -> None:
        self._authenticator = authenticator

    async def intercept_service(
        self, continuation: Callable[[Any], Awaitable[Any]], handler_call_details: Any
    ) -> Any:
        """The handler of a call, behind the check of its caller."""
        handler = await continuation(handler_call_details)
        if handler is None:
            return None
        if handler.unary_stream is not None:
            return grpc.unary_stream_rpc_method_handler(
                self._streaming(handler.unary_stream),
                handler.request_deserializer,
                handler.response_serializer,
            )
        return grpc.unary_unary_rpc_method_handler(
            self._unary(handler.unary_unary), handler.request_deserializer, handler.response_serializer
        )

    def _unary(self, inner: Callable[..., Any]) -> Callable[..., Any]:
        async def call(request: Any, context: grpc.aio.ServicerContext) -> Any:
            set_caller(await self._checked(context))
            return await inner(request, context)

        return call

    def _streaming(self, inner: Callable[..., Any]) -> Callable[..., Any]:
        async def call(request: Any, context: grpc.aio.ServicerContext) -> AsyncIterator[Any]:
            set_caller(await self._checked(context))
            async for event in inner(request, context):
                yield event
                del event

        return call

    async def _checked(self, context: grpc.aio.ServicerContext) -> Principal | None:
        sent = [
            value if isinstance(value, str) else value.decode("ascii", "replace")
            for name, value in context.invocation_metadata() or ()
            if str(name).lower() == "authorization"
        ]
        try:
            caller = await self._authenticator.caller(sent)
        except AuthRefused as error:
            log.warning("auth.refused", code=error.why.value, status=503 if error.unchecked else 401)
            if error.unchecked:
                context.set_trailing_metadata(((RETRY_AFTER, str(CHECKED_AGAIN_SECONDS)),))
                await context.abort(grpc.StatusCode.UNAVAILABLE, UNCHECKED)
            await context.abort(grpc.StatusCode.UNAUTHENTICATED, UNKNOWN)
            return None
        if not caller.may(self._authenticator.agent, Right.USE):
            log.warning("auth.refused", code="scope", status=403)
            await context.abort(grpc.StatusCode.PERMISSION_DENIED, NOT_ALLOWED)
        return caller
