"""Locks an agent's folder for one process: the databases in it assume a single writing process."""

from __future__ import annotations

import asyncio
import errno
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import structlog

from utils.errors import SettingsError

log = structlog.get_logger(__name__)

LOCK_FILE = "process.lock"

PATIENCE_SECONDS = 5.0
"""How long to wait for a process that is ending: children of a killed parent notice it after a second."""

_LOOK_SECONDS = 0.1

_NO_LOCKS = (errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOSYS)
"""Errors of network file systems without locks."""


@asynccontextmanager
async def only_process_in(folder: Path, *, patience: float = PATIENCE_SECONDS) -> AsyncIterator[None]:
    """Lock an agent's folder; the kernel releases the lock however this process ends.

    Raises:
        SettingsError: Another process holds the lock.
        OSError: The folder cannot be written, or the file is a link.
    """
    if sys.platform == "win32":
        yield
        return
    # what a link leads to is somebody else's, and would be overwritten
    options = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    file = os.open(folder / LOCK_FILE, options, 0o600)
    try:
        if await _taken(file, folder.name, patience):
            os.truncate(file, 0)
            os.write(file, str(os.getpid()).encode())
        else:
            log.warning("home.not_locked", agent_home=folder.name, effect="a second process is not refused")
        yield
    finally:
        os.close(file)


async def _taken(file: int, name: str, patience: float) -> bool:
    """Lock the file; return False when the file system has no locks.

    Raises:
        SettingsError: Another process holds it.
    """
    import fcntl

    clock = asyncio.get_running_loop().time
    deadline = clock() + patience
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if clock() > deadline:
                raise _in_use(file, name) from None
            await asyncio.sleep(_LOOK_SECONDS)
        except OSError as error:
            if error.errno not in _NO_LOCKS:
                raise
            return False
        else:
            return True


def _in_use(file: int, name: str) -> SettingsError:
    pid = os.pread(file, 20, 0).decode(errors="replace").strip()
    return SettingsError(
        "PLATFORM_ENGINEER_HOME",
        f"This agent runs already: process {pid or 'unknown'} works on its folder in PLATFORM_ENGINEER_HOME. "
        "End that process, or set PLATFORM_ENGINEER_HOME to another folder. If it is another agent, then two entries of the "
        f"list of agents are of classes with the same `name`, {name!r}: give each class a name of its own.",
    )
