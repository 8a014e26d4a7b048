"""Maps SQLite errors of the index to a message for the user, and to one for the operator with the file and what to do."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import structlog

from utils.errors import RetrievalFailed, StorageError, StorageFull
from utils.persistence.database_failures import is_damage, is_full

log = structlog.get_logger(__name__)

_DAMAGED = (
    "The document index {name} in PLATFORM_ENGINEER_HOME is damaged. Delete it, with the files beside it that end in "
    "-wal and -shm, and start again: it is built anew from the documents of RAG_SOURCES. Ingest again what you ingested besides."
)
_FULL = (
    "The disk is full: the document index {name} in PLATFORM_ENGINEER_HOME could not be {doing}. Free some space and "
    "start again."
)
_OTHER = (
    "The document index {name} in PLATFORM_ENGINEER_HOME could not be {doing}. See that this user may write it, that "
    "the disk has room, and that no other process holds it, and start again."
)


@contextmanager
def storage_errors(path: Path, doing: str) -> Iterator[None]:
    """Convert what SQLite or the disk failed.

    Args:
        path: The index file; it is named by its folder and its own name.
        doing: What could not be done: "opened".

    Raises:
        StorageError: The block failed; `for_operator` names the file and the way out.
    """
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        raise _storage_error(path, doing, error) from error


@contextmanager
def retrieval_errors(path: Path, doing: str) -> Iterator[None]:
    """Convert a failed look into the file.

    Raises:
        RetrievalFailed: The block failed. A damaged file is named in the log.
    """
    try:
        yield
    except sqlite3.Error as error:
        _note_damage(path, error)
        raise RetrievalFailed(f"The document index could not be {doing}.") from error


def _storage_error(path: Path, doing: str, error: Exception) -> StorageError:
    name = _name(path)
    if is_full(error):
        return StorageFull(for_operator=_FULL.format(name=name, doing=doing))
    _note_damage(path, error)
    told = (_DAMAGED if _is_damaged(error) else _OTHER).format(name=name, doing=doing)
    return StorageError(f"The document index could not be {doing}.", for_operator=told)


def _is_damaged(error: Exception) -> bool:
    """Whether pages are damaged, or tables are missing: our own statements are refused for nothing else."""
    return is_damage(error) or getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_ERROR


def _note_damage(path: Path, error: Exception) -> None:
    if _is_damaged(error):
        log.error("storage.damaged", file=_name(path))


def _name(path: Path) -> str:
    return f"{path.parent.name}/{path.name}"
