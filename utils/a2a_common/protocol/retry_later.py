"""Errors of the protocol that tell a client when to send its request again.

JSON-RPC and REST answer them with HTTP status 503 and `Retry-After`, gRPC with RESOURCE_EXHAUSTED or UNAVAILABLE. The
SDK's routes turn an error into a body without a status of its own, so the error is noted for the middleware around them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from a2a.utils.errors import (
    A2A_ERROR_MAPPING,
    A2A_ERROR_REASONS,
    A2AError,
    ErrorMapping,
)

from utils.errors import Overloaded, RetryLater

_noted: ContextVar[list[RetryLaterError] | None] = ContextVar("retry_later", default=None)


class RetryLaterError(A2AError):
    """No new turn is taken now.

    Attributes:
        retry_after: Whole seconds to wait, in `data` too.
    """

    def __init__(self, message: str, retry_after: int) -> None:
        super().__init__(message, {"retry_after": retry_after})
        self.retry_after = retry_after


class OverloadedError(RetryLaterError):
    """Too many turns wait."""


class DrainingError(RetryLaterError):
    """The process is about to stop."""


for _error, _status, _reason in (
    (OverloadedError, "RESOURCE_EXHAUSTED", "OVERLOADED"),
    (DrainingError, "UNAVAILABLE", "DRAINING"),
):
    A2A_ERROR_MAPPING[_error] = ErrorMapping(503, _status, _reason)
    A2A_ERROR_REASONS[_error] = _reason


def retry_later(error: RetryLater) -> RetryLaterError:
    """The protocol's error for a `RetryLater`, noted for the response that is being made."""
    kind = OverloadedError if isinstance(error, Overloaded) else DrainingError
    made = kind(error.message, max(1, round(error.retry_after)))
    noted = _noted.get()
    if noted is not None:
        noted.append(made)
    return made


@contextmanager
def noting_refusals() -> Iterator[list[RetryLaterError]]:
    """The errors of `retry_later` that are made for the request that is handled in this block."""
    noted: list[RetryLaterError] = []
    token = _noted.set(noted)
    try:
        yield noted
    finally:
        _noted.reset(token)
