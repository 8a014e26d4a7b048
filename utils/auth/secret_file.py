"""Random secrets in files that only their owner can read; created at the first use."""

from __future__ import annotations

import secrets
from pathlib import Path

from utils.atomic_file import publish_file

SECRET_BYTES = 32


def secret_in(path: Path) -> bytes:
    """The secret of a file. Processes that create it at once get the same secret.

    Raises:
        OSError: The file cannot be read.
        StorageError: It cannot be made.
    """
    try:
        return path.read_bytes()
    except FileNotFoundError:
        publish_file(path, secrets.token_bytes(SECRET_BYTES))
        return path.read_bytes()
