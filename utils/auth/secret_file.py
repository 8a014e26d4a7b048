"""Random secrets in files of their own, which their owner alone can read; made at the first use."""

from __future__ import annotations

import contextlib
import os
import secrets
import tempfile
from pathlib import Path

SECRET_BYTES = 32


def secret_in(path: Path) -> bytes:
    """The secret of a file. Where several processes make it at once, all get the same one.

    Raises:
        OSError: The file can be neither read nor made.
    """
    try:
        return path.read_bytes()
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
        _publish(path, secrets.token_bytes(SECRET_BYTES))
        return path.read_bytes()


def _publish(path: Path, content: bytes) -> None:
    """Put a whole file at a path where none is; one that is there stays."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        with contextlib.suppress(FileExistsError):
            os.link(name, path)
    finally:
        Path(name).unlink()
