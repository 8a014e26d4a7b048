"""Maps failures of SQLite to a sentence: for the user while a process runs, for the operator when it starts."""

from __future__ import annotations

import errno
import sqlite3

import structlog

from utils.errors import StorageAway, StorageError, StorageFull
from utils.persistence.sqlite_file import MemoryFile, SqliteFile

log = structlog.get_logger(__name__)

_DAMAGED = (
    "The file {name} in PLATFORM_ENGINEER_HOME is damaged. Put back a copy of it, or move it away to start "
    "without what it holds."
)
_FULL = "The disk is full: the file {name} in PLATFORM_ENGINEER_HOME cannot be opened. Free some space and start again."
_HELD = (
    "The file {name} in PLATFORM_ENGINEER_HOME is held by another program, such as a copy or a backup that runs. "
    "End it and start again."
)
_UNOPENED = (
    "The file {name} in PLATFORM_ENGINEER_HOME cannot be opened. See that this user may write it, that the disk "
    "has room, and that no other process holds it."
)


class StorageDamaged(StorageError):
    """A page of a database is damaged, and its data is lost."""


class StorageHeld(StorageAway):
    """Another program has held a database for longer than a write waits."""

    sentence = (
        "Another program holds a file of this agent, so nothing can be stored. End it, such as a copy or a backup that runs, "
        "and try again."
    )


class StorageGone(StorageError):
    """A database was deleted, moved or replaced while this process runs: what is written to it would be lost with the process."""

    sentence = (
        "The data of this agent was deleted or moved while it runs, so nothing can be stored. Its operator must start it again, "
        "with the folder back in its place if its data is to be kept."
    )


def unopened(path: SqliteFile, error: Exception) -> StorageError:
    """The error for an operator when a database cannot be opened, without the path of the home."""
    name = _name_of(path)
    if is_damage(error):
        return StorageError(_DAMAGED.format(name=name))
    if is_full(error):
        return StorageFull(for_operator=_FULL.format(name=name))
    if is_held(error):
        return StorageHeld(for_operator=_HELD.format(name=name))
    return StorageError(_UNOPENED.format(name=name))


def failed(path: SqliteFile, error: Exception) -> StorageError:
    """The error for a failed read or write of SQLite: a sentence for the user, and one for the operator that names the file."""
    name = _name_of(path)
    if is_full(error):
        return StorageFull()
    if is_held(error):
        log.warning("storage.held", file=name)
        return StorageHeld()
    if is_gone(error):
        log.error("storage.gone", file=name)
        return StorageGone()
    if not is_damage(error):
        return StorageError("The database failed. Try again.")
    log.error("storage.damaged", file=name)
    return StorageDamaged(
        "What is needed cannot be read: a file of this agent is damaged. Its operator can see in the log which.",
        for_operator=_DAMAGED.format(name=name),
    )


def is_full(error: BaseException) -> bool:
    """Whether a write failed because the disk, or the room that the file may take, is used up."""
    if isinstance(error, OSError):
        return error.errno in (errno.ENOSPC, errno.EDQUOT)
    return _code(error) == sqlite3.SQLITE_FULL


def is_held(error: BaseException) -> bool:
    """Whether another connection held the file for longer than SQLite's time-out."""
    return _code(error) == sqlite3.SQLITE_BUSY


def is_gone(error: BaseException) -> bool:
    """Whether the file is no longer at its path."""
    return getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_READONLY_DBMOVED


def gone() -> sqlite3.OperationalError:
    """The error that SQLite itself has for it, but not for a database with a write-ahead log."""
    error = sqlite3.OperationalError("the database file was deleted, moved or replaced")
    error.sqlite_errorcode = sqlite3.SQLITE_READONLY_DBMOVED
    error.sqlite_errorname = "SQLITE_READONLY_DBMOVED"
    return error


def is_damage(error: BaseException) -> bool:
    """Whether SQLite found a damaged page, or no database at all."""
    return _code(error) in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT)


def _code(error: BaseException) -> int | None:
    """The plain code of SQLite, which its extended codes hold in their low byte."""
    code = getattr(error, "sqlite_errorcode", None)
    return None if code is None else code & 0xFF


def _name_of(path: SqliteFile) -> str:
    return path.name if isinstance(path, MemoryFile) else f"{path.parent.name}/{path.name}"
