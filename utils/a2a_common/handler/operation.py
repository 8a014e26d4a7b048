"""`@operation`: the steps around every operation of the request handler, in this order.

1. It is a span of the trace.
2. The tenant is an id, and the caller's own, which is set on the call; no parameter names another tenant, or another task
   than that of the token: `callers.check_caller`.
3. The parameters have what the protocol requires; a message has parts with content, ids that can be stored, and values that
   can be sent: `message_rules.check_params`.
4. It counts as a request of its caller, except a cancel, which ends work: `callers.CallerLimits`.
5. The card announces it: `capabilities`.
6. An error that the handler did not raise for its client is shown without internal text: `public_error`.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import ExitStack, aclosing, contextmanager
from functools import wraps
from typing import Any, Protocol, TypeVar, cast

import structlog
from a2a.server.context import ServerCallContext
from a2a.types.a2a_pb2 import AgentCard
from a2a.utils.errors import A2AError, InternalError, InvalidAgentResponseError

from utils.a2a_common.handler.callers import CallerLimits, check_caller
from utils.a2a_common.handler.message_rules import check_id, check_params
from utils.a2a_common.protocol.not_stored import refusal_data
from utils.a2a_common.protocol.owner import owner_of
from utils.a2a_common.protocol.retry_later import retry_later
from utils.a2a_common.protocol.trace_context import operation_span, trace_of_call
from utils.errors import INTERNAL, SERVER_CRASHED, PlatformError, RetryLater, StorageAway
from utils.observability.trace import trace_id_in
from utils.observability.tracebacks import causes_of

log = structlog.get_logger(__name__)

Method = TypeVar("Method", bound=Callable[..., Any])

CANCEL = "CancelTask"

Announced = Callable[[AgentCard, ServerCallContext], None]
"""Refuses an operation that the card does not announce: one of `capabilities`."""

_PRIVATE = (InternalError, InvalidAgentResponseError)


class Guarded(Protocol):
    """A handler whose operations are guarded."""

    @property
    def card(self) -> AgentCard:
        """The agent's capabilities."""

    @property
    def limits(self) -> CallerLimits:
        """The limits per caller."""


def operation(name: str, *, announced: Announced | None = None) -> Callable[[Method], Method]:
    """Guard a method of a handler that answers an operation.

    Args:
        name: What the protocol calls it.
        announced: Refuses it where the card does not announce it.
    """

    def guarded(method: Method) -> Method:
        @wraps(method)
        async def unary(self: Guarded, params: Any, context: ServerCallContext) -> Any:
            with _request(self, name, announced, params, context), shown_errors(context):
                return await method(self, params, context)

        @wraps(method)
        async def stream(self: Guarded, params: Any, context: ServerCallContext) -> AsyncGenerator[Any, None]:
            with _request(self, name, announced, params, context), shown_errors(context):
                async with aclosing(method(self, params, context)) as events:
                    async for event in events:
                        yield event
                        del event  # it may be a complete task, and is not held until the next one

        return cast("Method", stream if inspect.isasyncgenfunction(method) else unary)

    return guarded


@contextmanager
def _request(
    handler: Guarded, name: str, announced: Announced | None, params: Any, context: ServerCallContext
) -> Iterator[None]:
    """Refuse a request that is not allowed or exceeds a limit; count it while it is open.

    Raises:
        A2AError: It is refused.
    """
    with operation_span(name, context), ExitStack() as open_request:
        check_id("tenant", context.tenant)
        check_caller(params, context)
        check_params(params)
        if name != CANCEL:
            with shown_errors(context):
                open_request.enter_context(handler.limits.held(owner_of(context)))
        if announced is not None:
            announced(handler.card, context)
        yield


@contextmanager
def shown_errors(call: ServerCallContext) -> Iterator[None]:
    """Run the block for a call.

    Raises:
        A2AError: What the client may see of any failure.
    """
    try:
        yield
    except Exception as error:
        raise public_error(error, trace_id_in(trace_of_call(call))) from error


def public_error(error: Exception, trace_id: str) -> A2AError:
    """The error for the client: protocol errors unchanged, any other as one sentence with the trace id of its log line."""
    if isinstance(error, A2AError) and not isinstance(error, _PRIVATE):
        return error
    if isinstance(error, RetryLater | StorageAway):
        log.info("request.refused", code=error.code, retry_after=error.retry_after)
        return retry_later(error)
    if isinstance(error, PlatformError):
        log.error("request.failed", code=error.code, trace_id=trace_id, causes=causes_of(error))
        return InternalError(f"{error.message} (trace {trace_id})", refusal_data(error))
    log.error("request.crashed", code=INTERNAL, trace_id=trace_id, exc_info=error)
    return InternalError(f"{SERVER_CRASHED} (trace {trace_id})")
