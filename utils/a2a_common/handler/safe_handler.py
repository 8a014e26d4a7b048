"""Wraps every operation of a request handler.

Malformed parameters and too many requests of one caller are refused, errors show no internal text, and each operation is
a span.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import ExitStack, aclosing, contextmanager
from functools import wraps
from typing import Any, TypeVar

import structlog
from a2a.server.context import ServerCallContext
from a2a.server.request_handlers import RequestHandler
from a2a.utils.errors import A2AError, InternalError, InvalidAgentResponseError

from utils.a2a_common.handler.callers import CallerLimits, check_caller
from utils.a2a_common.handler.message_rules import check_id, check_params
from utils.a2a_common.protocol.owner import owner_of
from utils.a2a_common.protocol.retry_later import retry_later
from utils.a2a_common.protocol.trace_context import operation_span
from utils.errors import INTERNAL, SERVER_CRASHED, PlatformError, RetryLater, TooManyRequests

log = structlog.get_logger(__name__)

Answer = TypeVar("Answer")

_METHODS = {
    "on_message_send": "SendMessage",
    "on_message_send_stream": "SendStreamingMessage",
    "on_get_task": "GetTask",
    "on_list_tasks": "ListTasks",
    "on_cancel_task": "CancelTask",
    "on_subscribe_to_task": "SubscribeToTask",
    "on_create_task_push_notification_config": "CreateTaskPushNotificationConfig",
    "on_get_task_push_notification_config": "GetTaskPushNotificationConfig",
    "on_list_task_push_notification_configs": "ListTaskPushNotificationConfigs",
    "on_delete_task_push_notification_config": "DeleteTaskPushNotificationConfig",
    "on_get_extended_agent_card": "GetExtendedAgentCard",
}
"""The operations as the protocol names them."""


_CANCEL = _METHODS["on_cancel_task"]

_PRIVATE = (InternalError, InvalidAgentResponseError)


def public_error(error: Exception) -> A2AError:
    """What a client may see of `error`: protocol errors as they are, the rest as one sentence."""
    if isinstance(error, A2AError) and not isinstance(error, _PRIVATE):
        return error
    if isinstance(error, RetryLater):
        log.info("request.refused", code=error.code, retry_after=error.retry_after)
        return retry_later(error)
    if isinstance(error, PlatformError):
        log.error("request.failed", code=error.code, exc_info=error)
        return InternalError(error.message)
    log.error("request.crashed", code=INTERNAL, exc_info=error)
    return InternalError(SERVER_CRASHED)


async def guarded(answer: Awaitable[Answer]) -> Answer:
    """Await `answer`.

    Raises:
        A2AError: What the client may see of any failure.
    """
    try:
        return await answer
    except Exception as error:
        raise public_error(error) from error


async def guarded_stream(events: AsyncGenerator[Answer, None]) -> AsyncGenerator[Answer, None]:
    """Yield `events`, closing them when the reader goes away.

    Raises:
        A2AError: What the client may see of any failure.
    """
    try:
        async with aclosing(events):
            async for event in events:
                yield event
    except Exception as error:
        raise public_error(error) from error


class _Delegating:
    def __init__(self, inner: RequestHandler, limits: CallerLimits | None = None) -> None:
        self.inner = inner
        self.limits = limits or CallerLimits()

    @contextmanager
    def counted(self, method: str, context: ServerCallContext) -> Iterator[None]:
        """Count a request of its caller, but one that ends work.

        Raises:
            A2AError: It is one too many.
        """
        with ExitStack() as open_request:
            if method != _CANCEL:
                try:
                    open_request.enter_context(self.limits.held(owner_of(context)))
                except TooManyRequests as error:
                    raise public_error(error) from error
            yield


def _delegated(name: str) -> Callable[..., Any]:
    """The operation `name` of the interface, answered by the inner handler."""
    declared, method = getattr(RequestHandler, name), _METHODS[name]

    @wraps(declared, updated=())
    async def unary(self: _Delegating, params: Any, context: ServerCallContext) -> Any:
        with operation_span(method, context):
            _check(params, context)
            with self.counted(method, context):
                return await guarded(getattr(self.inner, name)(params, context))

    @wraps(declared, updated=())
    async def stream(self: _Delegating, params: Any, context: ServerCallContext) -> AsyncGenerator[Any, None]:
        with operation_span(method, context):
            _check(params, context)
            with self.counted(method, context):
                async for event in guarded_stream(getattr(self.inner, name)(params, context)):
                    yield event

    return stream if inspect.isasyncgenfunction(declared) else unary


def _check(params: Any, context: ServerCallContext) -> None:
    check_id("tenant", context.tenant)
    check_caller(params, context)
    check_params(params)


_OPERATIONS = {name: _delegated(name) for name in RequestHandler.__abstractmethods__}
SafeRequestHandler: Callable[..., RequestHandler] = type(
    "SafeRequestHandler", (_Delegating, RequestHandler), _OPERATIONS
)
"""Answers each operation as the handler that it is made with, and with a protocol error where that fails."""
