"""Random secrets in files of their own, which their owner alone can read; made at the first use."""

from __future__ import annotations

import secrets
from pathlib import Path

from utils.whole_file import publish_file

SECRET_BYTES = 32


def secret_in(path: Path) -> bytes:
    """The secret of a file. Where several processes make it at once, all get the same one.

    Raises:
        OSError: The file cannot be read.
        StorageError: It cannot be made.
    """
    try:
        return path.read_bytes()
    except FileNotFoundError:
        publish_file(path, secrets.token_bytes(SECRET_BYTES))
        return path.read_bytes()
