"""What `ps` shows of a forked process: its own command line in the place of its parent's."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence
from pathlib import Path

_PR_SET_NAME = 15
_NAME_BYTES = 15
_ARG_START = 47
"""Place of `arg_start` and, after it, `arg_end` among the fields of `/proc/PID/stat`, counted from 0."""


def set_title(name: str, command: Sequence[str]) -> None:
    """Take a name, and write `command` over the arguments that this process was started with, as far as there is room.

    Linux keeps the arguments in the memory of the process; Python has copied them by now. Nothing is
    written where they are not found.
    """
    ctypes.CDLL(None).prctl(_PR_SET_NAME, name.encode()[:_NAME_BYTES], 0, 0, 0)
    fields = Path("/proc/self/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()
    start, end = (int(field) for field in fields[_ARG_START - 2 : _ARG_START])
    size = end - start
    shown = Path("/proc/self/cmdline").read_bytes()
    if size <= 0 or len(shown) != size or ctypes.string_at(start, size) != shown:
        return
    wanted = b"".join(os.fsencode(part) + b"\0" for part in command)
    ctypes.memmove(start, wanted[: size - 1].ljust(size, b"\0"), size)
