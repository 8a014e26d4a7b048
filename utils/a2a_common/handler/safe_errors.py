"""Turns any exception of the request handler into a protocol error without internal text."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable
from contextlib import aclosing
from typing import TypeVar

import structlog
from a2a.utils.errors import A2AError, InternalError, InvalidAgentResponseError

from utils.a2a_common.protocol.retry_later import retry_later
from utils.errors import INTERNAL, SERVER_CRASHED, PlatformError, RetryLater

log = structlog.get_logger(__name__)

Answer = TypeVar("Answer")

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
