"""Maps database errors of the shared index to `RetrievalFailed`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from utils.errors import RetrievalFailed, StorageError


@contextmanager
def retrieval_errors(doing: str) -> Iterator[None]:
    """Convert database errors to `RetrievalFailed`.

    Raises:
        RetrievalFailed: The database failed within the block.
    """
    try:
        yield
    except StorageError as error:
        raise RetrievalFailed(f"The document index could not be {doing}.") from error
