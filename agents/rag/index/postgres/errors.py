"""What a failed look into the shared index is to whoever asked."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from utils.errors import RetrievalFailed, StorageError


@contextmanager
def retrieval_errors(doing: str) -> Iterator[None]:
    """Convert a failed database to a failed retrieval.

    Raises:
        RetrievalFailed: The database failed within the block.
    """
    try:
        yield
    except StorageError as error:
        raise RetrievalFailed(f"The document index could not be {doing}.") from error
