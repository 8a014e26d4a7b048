"""Becomes another Python module that ends together with its parent, even when that is killed.

Run as a file, with nothing but the standard library, in the new process: `launcher.py PARENT_PID
MODULE ARGUMENT…`. The kernel is asked for a signal first, and the parent is looked at afterwards, so
that the parent cannot end unnoticed in between. Where there is no prctl, `--exit-with-parent` of the
agents does the same.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1


def end_with_parent(parent: int) -> None:
    """Have the kernel send SIGTERM when the parent ends; stop now if it already has."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    if os.getppid() != parent:
        sys.exit(1)


if __name__ == "__main__":
    end_with_parent(int(sys.argv[1]))
    # -P: a folder `utils` or `agents` where the command was typed is not imported instead of this project's
    os.execv(sys.executable, [sys.executable, "-P", "-m", *sys.argv[2:]])  # noqa: S606
