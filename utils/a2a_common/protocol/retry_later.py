"""Errors of the protocol that ask a client to retry later, or to look for the outcome of its request first.

JSON-RPC and REST answer them with HTTP status 503, or 429 to a caller with too many requests, and `Retry-After`, gRPC with RESOURCE_EXHAUSTED or UNAVAILABLE. The
SDK's routes turn an error into a body without a status of its own, so the error is noted for the middleware around them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

from a2a.utils.errors import (
    A2A_ERROR_MAPPING,
    A2A_ERROR_REASONS,
    A2AError,
    ErrorMapping,
)

from utils.a2a_common.protocol.storage_low import StorageLow
from utils.errors import ConversationBusy, Overloaded, RetryLater, StorageAway, TooManyRequests
from utils.observability import catalogue
from utils.observability.metrics import count
from utils.process_wide import ERROR_TABLES, declare

_noted: ContextVar[list[RetryLaterError | PerhapsTakenError] | None] = ContextVar("retry_later", default=None)


class RetryLaterError(A2AError):
    """The request is not served now.

    Attributes:
        retry_after: Whole seconds to wait, in `data` too.
        status: The status over HTTP.
    """

    status = 503

    def __init__(self, message: str, retry_after: int) -> None:
        super().__init__(message, {"retry_after": retry_after})
        self.retry_after = retry_after


class OverloadedError(RetryLaterError):
    """Too many turns wait."""


class TooManyRequestsError(RetryLaterError):
    """The caller exceeds the limit of one caller."""

    status = 429


class DrainingError(RetryLaterError):
    """The process is about to stop."""


class StorageLowError(RetryLaterError):
    """There is little room on the disk, and the message is large."""


class StorageAwayError(RetryLaterError):
    """The database of this agent cannot be used."""


class ConversationBusyError(RetryLaterError):
    """A conversation that shall be deleted has a turn under way."""


PERHAPS_TAKEN = (
    "The database cannot be used right now. Your message may have been taken as the task {task_id}: look at that task, or at the "
    "list of tasks, before you send the request again."
)


class PerhapsTakenError(A2AError):
    """The turn of a message was stored, but its task cannot be returned since the database is unavailable.

    No `RetryLaterError`: a client that repeats the request under a new message id may double it. Under the same id it runs once.

    Args:
        task_id: The task, in `data` too.

    Attributes:
        status: The status over HTTP; without `Retry-After`.
    """

    status = 504

    def __init__(self, task_id: str) -> None:
        super().__init__(PERHAPS_TAKEN.format(task_id=task_id), {"task_id": task_id})


_NAMES: dict[type[RetryLaterError | PerhapsTakenError], tuple[str, str]] = {
    OverloadedError: ("RESOURCE_EXHAUSTED", "OVERLOADED"),
    TooManyRequestsError: ("RESOURCE_EXHAUSTED", "TOO_MANY_REQUESTS"),
    DrainingError: ("UNAVAILABLE", "DRAINING"),
    StorageLowError: ("UNAVAILABLE", "STORAGE_LOW"),
    StorageAwayError: ("UNAVAILABLE", "STORAGE_FAILED"),
    ConversationBusyError: ("UNAVAILABLE", "CONVERSATION_BUSY"),
    PerhapsTakenError: ("DEADLINE_EXCEEDED", "PERHAPS_TAKEN"),
}
"""The status of gRPC and the reason of each."""


def _name_to_the_sdk() -> None:
    for error, (status, reason) in _NAMES.items():
        A2A_ERROR_MAPPING[error] = ErrorMapping(error.status, status, reason)
        A2A_ERROR_REASONS[error] = reason


declare(ERROR_TABLES, _name_to_the_sdk)


Made = TypeVar("Made", bound="RetryLaterError | PerhapsTakenError")

_KINDS: dict[type[RetryLater], type[RetryLaterError]] = {
    Overloaded: OverloadedError,
    TooManyRequests: TooManyRequestsError,
    StorageLow: StorageLowError,
    ConversationBusy: ConversationBusyError,
}


def retry_later(error: RetryLater | StorageAway) -> RetryLaterError:
    """The protocol's error for a temporary condition, counted, and noted for the current response."""
    kind = StorageAwayError if isinstance(error, StorageAway) else _KINDS.get(type(error), DrainingError)
    count(catalogue.REFUSALS, reason=_NAMES[kind][1].lower())
    return _note(kind(error.message, max(1, math.ceil(error.retry_after))))


@contextmanager
def perhaps_taken(task_id: str) -> Iterator[None]:
    """Run the block for a message whose turn was stored.

    Raises:
        PerhapsTakenError: The database cannot be used.
    """
    try:
        yield
    except StorageAway as error:
        raise _note(PerhapsTakenError(task_id)) from error


def _note(error: Made) -> Made:
    noted = _noted.get()
    if noted is not None:
        noted.append(error)
    return error


@contextmanager
def noting_refusals() -> Iterator[list[RetryLaterError | PerhapsTakenError]]:
    """The errors of `retry_later` and `perhaps_taken` that are made for the request that is handled in this block."""
    noted: list[RetryLaterError | PerhapsTakenError] = []
    token = _noted.set(noted)
    try:
        yield noted
    finally:
        _noted.reset(token)
