"""Maps PostgreSQL's errors to a sentence: for the user while a process runs, for the operator when it starts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
import structlog
from psycopg_pool import PoolClosed, PoolTimeout

from utils.errors import StorageAway, StorageError, StorageFull
from utils.observability import catalogue
from utils.observability.metrics import count
from utils.persistence.database_failures import StorageHeld

log = structlog.get_logger(__name__)

FILE = "postgresql"
"""The name of the database in the metric of storage errors."""

UNREACHABLE = "The database cannot be reached. Try again in a moment."
FAILED = "The database failed. Try again."


class DatabaseHeld(StorageHeld):
    """A statement exceeded its time limit for a lock, as on a table."""

    sentence = (
        "The database could not be used, since somebody else holds a lock that this waited for. End what holds it, such as a "
        "change of a table or a transaction that was left open, and try again."
    )


class DatabaseUnreachable(StorageAway):
    """No connection could be had, or the connection was lost. Nothing of a transaction that was under way is stored."""


class DatabaseReadOnly(StorageAway):
    """The database takes no writes now, as a standby or a server during a fail-over."""

    sentence = "The database can only be read at the moment, as during a fail-over. Try again in a moment."


@contextmanager
def storage_errors() -> Iterator[None]:
    """Convert psycopg's errors to `StorageError`, and count them.

    Raises:
        StorageError: The database failed.
    """
    try:
        yield
    except PoolClosed as error:
        raise StorageError("The database is closed.") from error
    except (PoolTimeout, psycopg.Error, OSError) as error:
        count(catalogue.STORAGE_ERRORS, file=FILE)
        log.warning("storage.failed", file=FILE, kind=type(error).__name__, sqlstate=_state(error))
        raise meaning(error) from error


def meaning(error: BaseException | None) -> StorageError:
    """The error for an exception of the driver, with a sentence for a user."""
    if isinstance(error, psycopg.errors.DiskFull):
        return StorageFull()
    if isinstance(error, psycopg.errors.LockNotAvailable):
        return DatabaseHeld()
    if isinstance(error, psycopg.errors.ReadOnlySqlTransaction):
        return DatabaseReadOnly()
    if error is not None and is_lost(error):
        return DatabaseUnreachable(UNREACHABLE)
    return StorageError(FAILED)


def is_lost(error: BaseException) -> bool:
    """Whether the server cannot be reached, or ended the connection (class 57P: it stops, starts or crashed).

    It also ends the connection of a process that was idle within a transaction, which is rolled back then.
    """
    if isinstance(error, PoolTimeout | OSError | psycopg.errors.IdleInTransactionSessionTimeout):
        return True
    if not isinstance(error, psycopg.OperationalError):
        return False
    state = _state(error)
    return state is None or state.startswith(("08", "57P"))


def _state(error: BaseException) -> str | None:
    return getattr(error, "sqlstate", None)
