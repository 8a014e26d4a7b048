"""Writes small files whole or not at all, and turns what goes wrong into an error that names the file and the way out."""

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
"""What is written to see whether there is room: some blocks, since the last one of a full disk may still be free."""

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""The disk is full, or what this user or this process may write of it is used up."""


def is_full(error: OSError) -> bool:
    """Whether a write failed for want of room."""
    return error.errno in _FULL


def is_blocked(error: OSError) -> bool:
    """Whether a file stands where a folder is needed."""
    return error.errno in (errno.EEXIST, errno.ENOTDIR) and _in_the_way_of(error.filename) is not None


def not_written(path: Path | str | None, error: OSError) -> StorageError:
    """The error for a file that cannot be written, or for any where it is not known which."""
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
    """Errors of the block as those of a file that cannot be written.

    Raises:
        StorageError: The block failed so.
    """
    try:
        yield
    except OSError as error:
        raise not_written(path, error) from error


def replace_file(path: Path, content: bytes) -> None:
    """Put a file, which its owner alone can read, in the place of one that may be there. A reader sees the old or the new one.

    Raises:
        StorageError: It cannot be written; the one before is still there.
    """
    with writing(path):
        beside = _beside(path, content)
        try:
            beside.replace(path)
        except BaseException:
            beside.unlink(missing_ok=True)
            raise


def publish_file(path: Path, content: bytes) -> None:
    """Put a file, which its owner alone can read, where none is. One that is there stays.

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
    """Make a folder, write to it as a file does that is stored there, and take that away again.

    Raises:
        StorageError: It cannot be written, or there is no room.
    """
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=folder, prefix=".room-") as file:
            file.write(bytes(ROOM_BYTES))
            file.flush()
            os.fsync(file.fileno())


def _beside(path: Path, content: bytes) -> Path:
    """The content in a new file beside the path."""
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
