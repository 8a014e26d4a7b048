"""The refusal of a message that could not be stored: its sender may be sure that nothing was done with it, and send it again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from utils.errors import StorageAway, StorageError

TAKEN = "taken"
"""Key in the `data` of the protocol's error: "false" where the message was certainly not taken."""

_NOT_TAKEN = "false"


class NotStored(StorageError):
    """A message could not be stored, so no turn of it runs. Code and sentence are those of its cause."""

    def __init__(self, cause: StorageError) -> None:
        super().__init__(cause.message, for_operator=cause.for_operator)
        self.code, self.retryable = cause.code, cause.retryable


@contextmanager
def refused_unstored() -> Iterator[None]:
    """Run the block that stores a message.

    Raises:
        NotStored: The storage failed.
        StorageAway: The same, and the request is served again in a moment.
    """
    try:
        yield
    except StorageAway:
        raise
    except StorageError as error:
        raise NotStored(error) from error


def refusal_data(error: Exception) -> dict[str, str] | None:
    """What the protocol's error for a failed request tells a program besides."""
    return {TAKEN: _NOT_TAKEN} if isinstance(error, NotStored) else None


def is_refusal(data: Mapping[str, Any] | None) -> bool:
    """Whether the data of a protocol's error tell that the message was certainly not taken."""
    return data is not None and data.get(TAKEN) == _NOT_TAKEN
