"""Being given the orphans among one's descendants, and hearing when one of them ends. Linux only."""

from __future__ import annotations

import asyncio
import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

_PR_SET_CHILD_SUBREAPER = 36
_LOST = 255
"""Exit code of a process that somebody else waited for, as in asyncio."""

_adopting = 0


def can_adopt() -> bool:
    """Whether this system has what adoption needs: Linux with process descriptors."""
    if sys.platform != "linux" or not hasattr(os, "pidfd_open"):
        return False
    try:
        os.close(os.pidfd_open(os.getpid()))
        with adopting():
            return True
    except OSError:
        return False


@contextmanager
def adopting() -> Iterator[None]:
    """For the length of the block, descendants whose parent ends become children of this process.

    Raises:
        OSError: The kernel refuses.
    """
    global _adopting  # noqa: PLW0603 - an attribute of the process, which blocks at the same time share
    _adopting += 1
    try:
        _set_subreaper(on=True)
        yield
    finally:
        _adopting -= 1
        if not _adopting:
            _set_subreaper(on=False)


def _set_subreaper(*, on: bool) -> None:
    if ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, int(on), 0, 0, 0):
        raise OSError(ctypes.get_errno(), "the kernel does not give orphans to this process")


class AdoptedProcess:
    """A child that this process did not start itself; looks like `asyncio.subprocess.Process`."""

    def __init__(self, pid: int) -> None:
        """Watch a child by its id.

        Raises:
            OSError: There is no such process.
        """
        self.pid = pid
        self.returncode: int | None = None
        self._ended = asyncio.Event()
        self._descriptor = os.pidfd_open(pid)
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(self._descriptor, self._end)

    async def wait(self) -> int:
        """Wait until it ends; its exit code, or the number of a signal below zero."""
        await self._ended.wait()
        return _LOST if self.returncode is None else self.returncode

    def _end(self) -> None:
        self._loop.remove_reader(self._descriptor)
        os.close(self._descriptor)
        try:
            _, status = os.waitpid(self.pid, 0)
        except ChildProcessError:
            self.returncode = _LOST
        else:
            self.returncode = os.waitstatus_to_exitcode(status)
        self._ended.set()
