"""Which chats use a service that another process started: each holds a lock, which goes with it however it ends."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from multi_agents.cli.errors import unwritable_home

ATTACHED = "attached"
"""Folder of the locks, in the data folder."""


@contextmanager
def attached_to(home: Path) -> Iterator[None]:
    """For the length of the block this process counts among the users of the service.

    Raises:
        StorageError: The folder cannot be written.
    """
    path = home / ATTACHED / str(os.getpid())
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = path.open("w")
    except OSError as error:
        raise unwritable_home(home, error) from error
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            yield
        finally:
            path.unlink(missing_ok=True)


def attached(home: Path) -> int:
    """How many other processes use the service now; entries of killed processes are removed."""
    folder = home / ATTACHED
    if not folder.is_dir():
        return 0
    return sum(_is_held(path) for path in folder.iterdir())


def _is_held(path: Path) -> bool:
    try:
        with path.open("r") as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
            path.unlink(missing_ok=True)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False
