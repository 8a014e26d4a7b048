"""One process on one agent's folder: the databases in it are written by a process that takes itself for the only one."""

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
"""How long a process that is ending may take: children of a killed parent notice that after a second."""

_LOOK_SECONDS = 0.1

_NO_LOCKS = (errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOSYS)
"""What network file systems without locks answer."""


@asynccontextmanager
async def only_process_in(folder: Path, *, patience: float = PATIENCE_SECONDS) -> AsyncIterator[None]:
    """Hold an agent's folder; the kernel lets go of it when this process ends in any way.

    Raises:
        SettingsError: Another process holds it.
        OSError: The folder cannot be written.
    """
    if sys.platform == "win32":
        yield
        return
    file = os.open(folder / LOCK_FILE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        if await _taken(file, patience):
            os.truncate(file, 0)
            os.write(file, str(os.getpid()).encode())
        else:
            log.warning("home.not_locked", agent_home=folder.name, effect="a second process is not refused")
        yield
    finally:
        os.close(file)


async def _taken(file: int, patience: float) -> bool:
    """Whether the file is locked now; False where the file system knows no locks.

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
                raise _in_use(file) from None
            await asyncio.sleep(_LOOK_SECONDS)
        except OSError as error:
            if error.errno not in _NO_LOCKS:
                raise
            return False
        else:
            return True


def _in_use(file: int) -> SettingsError:
    pid = os.pread(file, 20, 0).decode(errors="replace").strip()
    return SettingsError(
        "PLATFORM_ENGINEER_HOME",
        f"This agent runs already: process {pid or 'unknown'} works on its folder in PLATFORM_ENGINEER_HOME. "
        "End that process, or set PLATFORM_ENGINEER_HOME to another folder.",
    )
