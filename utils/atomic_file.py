"""Writes small files atomically, and turns errors into ones that name the file and a remedy."""

from __future__ import annotations

import contextlib
import errno
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from utils.errors import StorageError, StorageFull

ROOM_BYTES = 1 << 20
"""Bytes that are written to check for free space: several blocks, since the last one of a full disk may still be free."""

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""The disk is full, or a quota or size limit of this user or process is reached."""


def is_full(error: OSError) -> bool:
    """Whether a write failed because there is no space."""
    return error.errno in _FULL


def is_blocked(error: OSError) -> bool:
    """Whether a file stands where a folder is needed."""
    return error.errno in (errno.EEXIST, errno.ENOTDIR) and _in_the_way_of(error.filename) is not None


def not_written(path: Path | str | None, error: OSError) -> StorageError:
    """The error for a file that cannot be written; `path` is `None` if the file is not known."""
    why = error.strerror or type(error).__name__
    if is_full(error):
        return StorageFull(
            f"There is no room for {path or 'what is to be stored'} ({why}). Free some space and try again."
        )
    if error.errno in (errno.EEXIST, errno.ENOTDIR) and (file := _in_the_way_of(path)):
        return StorageError(f"{file} is a file, and a folder is needed there. Move it away and try again.")
    return StorageError(f"{path or 'A file'} cannot be written: {why}.")


def _in_the_way_of(path: Path | str | None) -> Path | None:
    """The file that stands where a folder is needed for the path, or as it."""
    if not path:
        return None
    places = (Path(path), *Path(path).parents)
    return next((one for one in places if one.exists() and not one.is_dir()), None)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Translate an `OSError` of the block.

    Raises:
        StorageError: The block raised an `OSError`.
    """
    try:
        yield
    except OSError as error:
        raise not_written(path, error) from error


def replace_file(path: Path, content: bytes) -> None:
    """Write a file that only its owner can read, replacing one that exists. A reader sees either the old or the new content.

    Raises:
        StorageError: It cannot be written; an existing file is unchanged.
    """
    with writing(path):
        beside = _beside(path, content)
        try:
            beside.replace(path)
        except BaseException:
            beside.unlink(missing_ok=True)
            raise


def publish_file(path: Path, content: bytes) -> None:
    """Write a file that only its owner can read, unless one exists.

    Raises:
        StorageError: It cannot be written.
    """
    with writing(path):
        beside = _beside(path, content)
        try:
            with contextlib.suppress(FileExistsError):
                os.link(beside, path)
        finally:
            beside.unlink(missing_ok=True)


def write_new(path: Path, content: bytes) -> None:
    """Create a new file; on failure no partial file remains.

    Raises:
        OSError: It cannot be written, or it exists already.
    """
    handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def check_room(folder: Path) -> None:
    """Create a folder, and check with a temporary file that it can be written to.

    Raises:
        StorageError: It cannot be written to, or there is no space.
    """
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=folder, prefix=".room-") as file:
            file.write(bytes(ROOM_BYTES))
            file.flush()
            os.fsync(file.fileno())


def _beside(path: Path, content: bytes) -> Path:
    """A temporary file with the content, in the folder of the path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")  # 0600
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    return Path(name)
